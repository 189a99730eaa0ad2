//! The names of plain semaphores: whatever a segment of a path can hold, which is more than Grackle's own
//! names allow.

use std::fmt;
use std::fmt::Write as _;

use axum::http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};

use super::error::PlainError;

const MAX_BYTES: usize = 128;
/// Encoded names begin so.
const ESCAPED: &str = "x-";
/// What needs no escape in a path (RFC 3986, unreserved).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// 1–128 bytes, no slash and no control character among them, and neither `.` nor `..`, which clients
/// take out of a path before they send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    pub(super) fn new(name: &str) -> Result<Self, PlainError> {
        let allowed = !name.contains(|c: char| c == '/' || c.is_control());
        if (1..=MAX_BYTES).contains(&name.len()) && allowed && name != "." && name != ".." {
            return Ok(Self(name.to_owned()));
        }
        Err(PlainError::invalid(format!(
            "name: must be 1 to {MAX_BYTES} bytes without slashes and control characters, and not . or .."
        )))
    }

    /// The last segment of the path.
    pub(super) fn last_of(uri: &Uri) -> Result<Self, PlainError> {
        let segment = uri.path().rsplit('/').next().unwrap_or_default();
        let decoded = percent_decode_str(segment).decode_utf8();
        Self::new(&decoded.map_err(|_| PlainError::invalid("name: must be UTF-8"))?)
    }

    /// The path of its value.
    pub(super) fn value_path(&self) -> String {
        format!("/semaphore/value/{}", utf8_percent_encode(&self.0, UNRESERVED))
    }

    /// The name of the Grackle semaphore. A name that Grackle allows stays as it is. In any other, each
    /// byte that is not a letter, a digit or `-` becomes `_` and two hexadecimal digits; where that is
    /// too long, the hash of the name is used. No two names become the same: an encoded name has a `_` or
    /// begins with `x-x-`, and a hash has no `_`.
    pub(super) fn semaphore_name(&self) -> String {
        if self.is_plain() {
            return self.0.clone();
        }
        let mut spelled = ESCAPED.to_owned();
        for byte in self.0.bytes() {
            match byte {
                b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => spelled.push(byte.into()),
                // Writing to a String can't fail.
                _ => drop(write!(spelled, "_{byte:02X}")),
            }
        }
        if spelled.len() <= MAX_BYTES {
            return spelled;
        }
        Sha256::digest(&self.0).iter().fold(format!("{ESCAPED}-"), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        })
    }

    /// The name as a description, where the semaphore is called otherwise.
    pub(super) fn description(&self) -> String {
        if self.is_plain() { String::new() } else { self.0.clone() }
    }

    fn is_plain(&self) -> bool {
        grackle_client::is_name(&self.0) && !self.0.starts_with(ESCAPED)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn name(name: &str) -> Name {
        Name::new(name).unwrap()
    }

    #[test]
    fn what_a_segment_can_hold_is_a_name() {
        for good in ["a", "up", "a b", "ü", "order:7", "%2F", "?#", "...", &"x".repeat(MAX_BYTES)]
        {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        let long = "x".repeat(MAX_BYTES + 1);
        for bad in ["", ".", "..", "a/b", "a\nb", "\0", "\u{7f}", &long, &"ü".repeat(65)] {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_last_segment_is_decoded_once() {
        let last = |path: &str| Name::last_of(&path.parse().unwrap());
        assert_eq!(last("/semaphore/a%20b").unwrap(), name("a b"));
        assert_eq!(last("/semaphore/value/%252F?x=/y").unwrap(), name("%2F"));
        for bad in ["/semaphore/%2F", "/semaphore/%ff", "/semaphore/%00", "/semaphore/"] {
            assert!(last(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn in_a_path_a_name_comes_back() {
        for text in ["a b", "%2F", "ü?#&=+~", "a-b_c.d"] {
            let path = name(text).value_path();
            assert_eq!(Name::last_of(&path.parse().unwrap()).unwrap(), name(text));
        }
    }

    #[test]
    fn each_name_becomes_a_semaphore_name_of_its_own() {
        let (long, longer) = ("ü".repeat(64), format!("{}x", "ü".repeat(63)));
        let hash = name(&long).semaphore_name();
        let mut inside = HashMap::new();
        for text in [
            "a", "a_b", "x", "x_", "x-a", "x-x-a", "x--", "a b", "a_20b", "A b", "x-a_20b", "-a b",
            "order:7", &long, &longer, &hash,
        ] {
            let spelled = name(text).semaphore_name();
            assert!(grackle_client::is_name(&spelled), "{spelled}");
            assert_eq!(inside.insert(spelled.clone(), text), None, "{spelled}");
        }
        assert_eq!(inside["a_b"], "a_b");
        assert_eq!(inside["x-order_3A7"], "order:7");
        assert_eq!(inside["x-x-a"], "x-a");
        assert_eq!(hash.len(), 3 + 64);
    }

    #[test]
    fn an_encoded_semaphore_has_the_name_as_its_description() {
        assert_eq!(name("order-7").description(), "");
        assert_eq!(name("order:7").description(), "order:7");
    }
}
