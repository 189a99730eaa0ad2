//! 64-bit integers in requests: JSON numbers, or strings for writers whose numbers are doubles.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(Int64)
}

/// Of a field that may be left out.
pub(super) fn option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    deserialize(deserializer).map(Some)
}

struct Int64;

impl Visitor<'_> for Int64 {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit integer")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        i64::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<i64, E> {
        value.parse().map_err(|_| E::invalid_value(Unexpected::Str(value), &self))
    }
}
