//! The schemas of requests, answers and records, derived from their Rust types.

use grackle_client::Limits;
use grackle_client::wire::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

use super::constraints;
use crate::operation::with_operations;

/// All schemas, by name.
pub(super) fn schemas(limits: &Limits) -> Map<String, Value> {
    let mut schemas = Map::new();
    all_types(&mut schemas);
    add_record::<Namespace>(&mut schemas);
    add_record::<Semaphore>(&mut schemas);
    add_record::<Lease>(&mut schemas);
    add_record::<Holder>(&mut schemas);
    add_record::<Waiter>(&mut schemas);
    add_record::<Waiting>(&mut schemas);
    add_record::<Drained>(&mut schemas);
    add_record::<Convoy>(&mut schemas);
    schemas.insert("AcquireOutcome".to_owned(), word::<AcquireOutcome>());
    schemas.insert("QueueDiscipline".to_owned(), word::<QueueDiscipline>());
    for (name, schema) in &mut schemas {
        constraints::apply(name, schema, limits);
    }
    schemas
}

macro_rules! types {
    ($($summary:literal $name:ident($request:ident) -> $answer:ident
       = $method:ident $(, $error:ident)*;)*) => {
        fn all_types(schemas: &mut Map<String, Value>) {
            $(
                schemas.insert(stringify!($request).to_owned(), object::<$request>());
                add_record::<$answer>(schemas);
            )*
        }
    };
}
with_operations!(types);

/// Adds the type of an answer. What it holds by default is always there.
fn add_record<T: ToSchema + Serialize + Default>(schemas: &mut Map<String, Value>) {
    let mut schema = object::<T>();
    // The types of `wire` are structs, and so JSON objects.
    let fields = serde_json::to_value(T::default()).unwrap_or_default();
    let fields: Vec<_> = fields.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    if !fields.is_empty() {
        schema["required"] = json!(fields);
    }
    schemas.insert(T::name().into_owned(), schema);
}

/// An enum of words. The unset value is for requests alone.
fn word<T: PartialSchema>() -> Value {
    plain(serde_json::to_value(T::schema()).unwrap_or_default())
}

fn object<T: PartialSchema>() -> Value {
    let mut schema = plain(serde_json::to_value(T::schema()).unwrap_or_default());
    flatten(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    schema
}

/// Turns what generators of other languages do not take into a plain form: no lists of types, no null, no
/// links of rustdoc.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Map<_, _> =
                members.into_iter().map(|(name, member)| (name, plain(member))).collect();
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = without_links(text);
            }
            if let Some(types) = members.get("type").and_then(Value::as_array) {
                let typed = types.iter().find(|word| *word != "null").cloned();
                members.insert("type".to_owned(), typed.unwrap_or_default());
            }
            without_choice(members)
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        other => other,
    }
}

/// A choice of one, or of one and null, is that one.
fn without_choice(mut members: Map<String, Value>) -> Value {
    if let Some(Value::Array(choices)) = members.get("oneOf") {
        let some: Vec<_> = choices.iter().filter(|choice| choice["type"] != "null").collect();
        if let [Value::Object(one)] = &some[..] {
            let one = one.clone();
            members.remove("oneOf");
            members.extend(one);
        }
    }
    members.into()
}

/// Merges the parts of a type with flattened fields into one object.
fn flatten(schema: &mut Value) {
    let Some(Value::Array(parts)) = schema.get("allOf").cloned() else { return };
    let mut properties = Map::new();
    for part in parts {
        let part = match part.get("$ref") {
            // Only service_endpoints are flattened.
            Some(_) => plain(serde_json::to_value(Page::schema()).unwrap_or_default()),
            None => part,
        };
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
    }
    let description = schema["description"].clone();
    *schema = json!({ "type": "object", "description": description, "properties": properties });
}

/// `` [`a`](b) `` is `` `a` ``.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find("[`") {
        let (before, link) = rest.split_at(open);
        plain.push_str(before);
        let Some(close) = link.find(']') else { break };
        plain.push_str(&link[1..close]);
        rest = &link[close + 1..];
        if rest.starts_with('(') {
            rest = rest.split_once(')').map_or("", |(_, rest)| rest);
        }
    }
    plain.push_str(rest);
    plain.replace('\n', " ").replace("  ", " ")
}

/// Each request and answer with its default values, to compare with its schema.
#[cfg(test)]
pub(super) fn samples() -> Vec<(&'static str, Value)> {
    macro_rules! samples {
        ($($summary:literal $name:ident($request:ident) -> $answer:ident
           = $method:ident $(, $error:ident)*;)*) => {
            vec![$(
                (stringify!($request), serde_json::to_value($request::default()).unwrap()),
                (stringify!($answer), serde_json::to_value($answer::default()).unwrap()),
            )*]
        };
    }
    with_operations!(samples)
}
