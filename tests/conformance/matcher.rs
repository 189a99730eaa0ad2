//! Whether an answer is what a case wants.
//!
//! `$any`, `$int`, `$gt:5`, `$ge:`, `$lt:`, `$le:`, `$re:pattern`, `$len:3`, and `$absent` for a key
//! of an object.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Map, Number, Value};

type Matched = Result<(), String>;

/// Whether `got` has all that `want` has: objects as subsets, lists whole.
pub(crate) fn matches(want: &Value, got: &Value, place: &str) -> Matched {
    match want {
        Value::String(text) if text.starts_with('$') => match_pattern(text, got, place),
        Value::Object(want) => match_object(want, got, place),
        Value::Array(want) => match_list(want, got, place),
        _ if want == got => Ok(()),
        _ => Err(format!("{place}: wanted {want}, got {got}")),
    }
}

/// The part of an answer at `a.b.0.c`.
pub(crate) fn at<'a>(body: &'a Value, path: &str) -> Result<&'a Value, String> {
    let pointer = format!("/{}", path.replace('.', "/"));
    body.pointer(&pointer).ok_or_else(|| format!("the answer has no {path}: {body}"))
}

fn match_object(want: &Map<String, Value>, got: &Value, place: &str) -> Matched {
    let object = got.as_object();
    let object = object.ok_or_else(|| format!("{place}: wanted an object, got {got}"))?;
    for (key, want) in want {
        let place = format!("{place}.{key}");
        match object.get(key) {
            None if want == "$absent" => {}
            None => return Err(format!("{place}: absent from {got}")),
            Some(value) if want == "$absent" => {
                return Err(format!("{place}: should be absent, is {value}"));
            }
            Some(value) => matches(want, value, &place)?,
        }
    }
    Ok(())
}

fn match_list(want: &[Value], got: &Value, place: &str) -> Matched {
    let list = got.as_array().filter(|list| list.len() == want.len());
    let list = list.ok_or_else(|| format!("{place}: wanted {} entries, got {got}", want.len()))?;
    for (i, (want, got)) in want.iter().zip(list).enumerate() {
        matches(want, got, &format!("{place}[{i}]"))?;
    }
    Ok(())
}

fn match_pattern(pattern: &str, got: &Value, place: &str) -> Matched {
    let (kind, argument) = pattern.split_once(':').unwrap_or((pattern, ""));
    let fits = match kind {
        "$any" => true,
        "$int" => got.is_i64() || got.is_u64(),
        "$gt" => compare(got, argument)?.is_some_and(Ordering::is_gt),
        "$ge" => compare(got, argument)?.is_some_and(Ordering::is_ge),
        "$lt" => compare(got, argument)?.is_some_and(Ordering::is_lt),
        "$le" => compare(got, argument)?.is_some_and(Ordering::is_le),
        "$re" => is_found(argument, got)?,
        "$len" => has_length(got, argument)?,
        _ => return Err(format!("{place}: unknown matcher {pattern}")),
    };
    if fits { Ok(()) } else { Err(format!("{place}: wanted {pattern}, got {got}")) }
}

/// Integers exactly; what is no number compares with none.
fn compare(got: &Value, argument: &str) -> Result<Option<Ordering>, String> {
    let Value::Number(got) = got else {
        return Ok(None);
    };
    let want: Number = argument.parse().map_err(|error| format!("{argument}: {error}"))?;
    Ok(match (got.as_i64(), want.as_i64()) {
        (Some(got), Some(want)) => Some(got.cmp(&want)),
        _ => got.as_f64().zip(want.as_f64()).and_then(|(got, want)| got.partial_cmp(&want)),
    })
}

fn is_found(pattern: &str, got: &Value) -> Result<bool, String> {
    let pattern = Regex::new(pattern).map_err(|error| error.to_string())?;
    Ok(got.as_str().is_some_and(|text| pattern.is_match(text)))
}

fn has_length(got: &Value, argument: &str) -> Result<bool, String> {
    let length: usize = argument.parse().map_err(|error| format!("{argument}: {error}"))?;
    Ok(got.as_array().is_some_and(|list| list.len() == length))
}
