//! A request's body: JSON, or the fields of a form. Unknown fields are ignored.

use std::time::Duration;

use axum::extract::Request;
use percent_encoding::percent_decode;
use serde_json::{Map, Value};

use super::error::PlainError;
use super::name::Name;
use crate::error::{ApiError, Code};
use crate::http::{body, json};

/// 2^53 − 1, as for all permits.
const MAX: f64 = grackle_client::MAX_PERMITS as f64;

#[derive(Debug)]
pub(super) struct PlainBody(Map<String, Value>);

impl PlainBody {
    pub(super) async fn read(request: Request, within: Duration) -> Result<Self, PlainError> {
        let body = body::read(request, within).await?;
        match body.media_type.as_deref() {
            None | Some("application/json") => Ok(Self(json::parse(&body.bytes)?)),
            Some("application/x-www-form-urlencoded") => Self::form(&body.bytes),
            _ => Err(ApiError::new(
                Code::UnsupportedMediaType,
                "send JSON, with content-type: application/json, or a form",
            )
            .into()),
        }
    }

    fn form(bytes: &[u8]) -> Result<Self, PlainError> {
        // Checked before: the parser of forms would replace what is not UTF-8.
        if percent_decode(bytes).decode_utf8().is_err() {
            return Err(PlainError::invalid("the form must be UTF-8"));
        }
        let fields = form_urlencoded::parse(bytes);
        let fields = fields.map(|(field, text)| (field.into_owned(), text.into_owned().into()));
        Ok(Self(fields.collect()))
    }

    pub(super) fn name(&self) -> Result<Name, PlainError> {
        match self.0.get("name") {
            Some(Value::String(name)) => Name::new(name),
            Some(_) => Err(PlainError::invalid("name: must be a string")),
            None => Err(PlainError::invalid("name: is missing")),
        }
    }

    /// The value of a new semaphore, at least 1. A fraction is cut off.
    pub(super) fn value(&self) -> Result<i64, PlainError> {
        let number = self.number("value").ok_or_else(|| PlainError::invalid(NOT_POSITIVE))?;
        match number.trunc() {
            whole if whole > MAX => {
                Err(PlainError::invalid(format!("value: must be at most {MAX}")))
            }
            whole if whole >= 1.0 => Ok(whole as i64),
            _ => Err(PlainError::invalid(NOT_POSITIVE)),
        }
    }

    /// How long a down may wait; 0 where it says nothing.
    pub(super) fn timeout_seconds(&self) -> Result<i64, PlainError> {
        if matches!(self.0.get("timeout_seconds"), None | Some(Value::Null)) {
            return Ok(0);
        }
        // The client checks the upper limit.
        match self.number("timeout_seconds") {
            Some(seconds) if seconds.fract() == 0.0 && seconds.abs() <= MAX => Ok(seconds as i64),
            _ => Err(PlainError::invalid("timeout_seconds: must be a whole number of seconds")),
        }
    }

    /// A number, or a string of one; finite.
    fn number(&self, field: &str) -> Option<f64> {
        let number = match self.0.get(field)? {
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        Some(number).filter(|number: &f64| number.is_finite())
    }
}

const NOT_POSITIVE: &str = "Value needs to be positive";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(value: Value) -> PlainBody {
        PlainBody(value.as_object().unwrap().clone())
    }

    #[test]
    fn a_value_is_a_whole_number_or_becomes_one() {
        for (value, is) in [
            (json!(1), 1),
            (json!(2.9), 2),
            (json!("3"), 3),
            (json!(" 4.5 "), 4),
            (json!("1e3"), 1_000),
            (json!(9_007_199_254_740_991_i64), 9_007_199_254_740_991),
        ] {
            assert_eq!(input(json!({ "value": value })).value().unwrap(), is, "{value}");
        }
    }

    #[test]
    fn no_other_value_is_taken() {
        for value in [
            json!(0),
            json!(-3),
            json!(0.5),
            json!("abc"),
            json!(""),
            json!("0x10"),
            json!("inf"),
            json!("nan"),
            json!(null),
            json!(true),
            json!([1]),
            json!({}),
            json!("1_000"),
            json!(9_007_199_254_740_992_i64),
            json!(1e300),
        ] {
            assert!(input(json!({ "value": value })).value().is_err(), "{value}");
        }
        assert!(input(json!({})).value().is_err());
    }

    #[test]
    fn a_timeout_is_whole_seconds_or_none() {
        assert_eq!(input(json!({})).timeout_seconds().unwrap(), 0);
        assert_eq!(input(json!({ "timeout_seconds": null })).timeout_seconds().unwrap(), 0);
        assert_eq!(input(json!({ "timeout_seconds": "5" })).timeout_seconds().unwrap(), 5);
        assert_eq!(input(json!({ "timeout_seconds": -1 })).timeout_seconds().unwrap(), -1);
        for wrong in [json!(0.5), json!("soon"), json!(true), json!(1e300)] {
            let refused = input(json!({ "timeout_seconds": wrong })).timeout_seconds();
            assert!(refused.is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_form_says_the_same() {
        let form = PlainBody::form(b"name=a+b%3A7&value=2.9&more=x").unwrap();
        assert_eq!(form.name().unwrap().to_string(), "a b:7");
        assert_eq!(form.value().unwrap(), 2);
        assert!(PlainBody::form(b"name=%ff&value=1").is_err());
        assert!(PlainBody::form(b"name=\xff").is_err());
    }

    #[test]
    fn a_name_is_a_string() {
        assert!(input(json!({ "name": 5 })).name().is_err());
        assert!(input(json!({})).name().is_err());
    }
}
