//! The names of a case, and where they are filled in.

use std::collections::HashMap;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// What `$ns`, `$id`, `$L1` and every saved name stand for.
#[derive(Clone)]
pub(crate) struct Names {
    values: HashMap<String, String>,
    name: Regex,
}

impl Names {
    /// With a namespace `$ns` and a name `$id` that no other case has.
    pub(crate) fn new() -> Self {
        let fresh = || format!("c{}", nanoid::nanoid!(12, &nanoid::alphabet::SAFE[2..]));
        let values = ["ns", "id"].map(|name| (name.to_owned(), fresh()));
        let name = Regex::new(r"\$([A-Za-z][A-Za-z0-9_]*)").expect("a pattern");
        Self { values: values.into(), name }
    }

    pub(crate) fn save(&mut self, name: &str, value: &Value) {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        self.values.insert(name.to_owned(), text);
    }

    /// Fills in names (unknown ones stay: they may be matchers), `$repeat:3:ab` and `{"$map": 3}`.
    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text).into(),
            Value::Array(list) => list.iter().map(|value| self.fill(value)).collect(),
            Value::Object(object) => self.fill_object(object),
            _ => value.clone(),
        }
    }

    pub(crate) fn fill_text(&self, text: &str) -> String {
        if let Some(repeated) = repeat(text) {
            return repeated;
        }
        let value =
            |found: &Captures| self.values.get(&found[1]).unwrap_or(&found[0].into()).clone();
        self.name.replace_all(text, value).into_owned()
    }

    fn fill_object(&self, object: &Map<String, Value>) -> Value {
        if let Some(count) = object.get("$map").and_then(Value::as_u64) {
            return (0..count).map(|i| (format!("key{i}"), Value::from("v"))).collect();
        }
        object.iter().map(|(key, value)| (self.fill_text(key), self.fill(value))).collect()
    }
}

/// `$repeat:<times>:<part>`
fn repeat(text: &str) -> Option<String> {
    let (count, part) = text.strip_prefix("$repeat:")?.split_once(':')?;
    Some(part.repeat(count.parse().ok()?))
}
