use std::collections::BTreeSet;

use grackle_client::wire::{
    AcquireSemaphoreResponse, Convoy, Drained, GetSemaphoreResponse, Holder, Lease, Metadata,
    Namespace, Semaphore, UpdateSemaphoreRequest, Waiter, Waiting,
};

use super::super::schemas::samples;
use super::*;

fn all_samples() -> Vec<(&'static str, Value)> {
    let metadata = Metadata::from([("k".to_owned(), "v".to_owned())]);
    let description = "d".to_owned();
    let namespace = Namespace {
        metadata: metadata.clone(),
        description: description.clone(),
        ..Namespace::default()
    };
    let semaphore = Semaphore {
        metadata: metadata.clone(),
        description,
        max_waiters: Some(0),
        ..Semaphore::default()
    };
    let holder = Holder { metadata: metadata.clone(), ..Holder::default() };
    let waiter = Waiter { metadata: metadata.clone(), ..Waiter::default() };
    let waiting = Waiting {
        weight_ahead_is_least: true,
        estimated_wait_seconds: Some(1),
        drained: Some(Drained::default()),
        ..Waiting::default()
    };
    let lease = Lease { metadata, ..Lease::default() };
    let records = [
        ("Namespace", serde_json::to_value(namespace).unwrap()),
        ("Semaphore", serde_json::to_value(semaphore).unwrap()),
        ("Holder", serde_json::to_value(holder).unwrap()),
        ("Waiter", serde_json::to_value(waiter).unwrap()),
        ("Waiting", serde_json::to_value(waiting.clone()).unwrap()),
        ("Drained", serde_json::to_value(Drained::default()).unwrap()),
        ("Lease", serde_json::to_value(lease).unwrap()),
        ("Convoy", serde_json::to_value(Convoy::default()).unwrap()),
    ];
    let acquired = AcquireSemaphoreResponse {
        acked_replicas: Some(0),
        waiting: Some(waiting),
        ..AcquireSemaphoreResponse::default()
    };
    let full = ("AcquireSemaphoreResponse", serde_json::to_value(acquired).unwrap());
    let seen =
        GetSemaphoreResponse { convoy: Some(Convoy::default()), ..GetSemaphoreResponse::default() };
    let seen = ("GetSemaphoreResponse", serde_json::to_value(seen).unwrap());
    let update =
        UpdateSemaphoreRequest { max_waiters: Some(0), ..UpdateSemaphoreRequest::default() };
    let update = ("UpdateSemaphoreRequest", serde_json::to_value(update).unwrap());
    let full = [full, seen, update];
    let others = samples().into_iter().filter(|(name, _)| full.iter().all(|full| *name != full.0));
    others.chain(records).chain(full.clone()).collect()
}

fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// The schema that a reference leads to, or the schema itself.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => schema,
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Null => "none of ours",
    }
}

#[test]
fn every_type_has_the_fields_that_it_has_in_rust() {
    let document = document(&Limits::default());
    let schemas = &document["components"]["schemas"];
    let samples = all_samples();
    for (name, sample) in &samples {
        let properties = &schemas[*name]["properties"];
        assert_eq!(names(properties), names(sample), "{name}");
        for (field, value) in sample.as_object().unwrap() {
            let schema = resolved(&document, &properties[field]);
            assert_eq!(schema["type"], json_type(value), "{name}.{field}");
        }
    }
    let documented: BTreeSet<_> = names(schemas);
    let words = ["Error", "AcquireOutcome", "QueueDiscipline"];
    let known = samples.iter().map(|(name, _)| *name).chain(words).collect();
    assert_eq!(documented, known);
}

#[test]
fn what_may_be_left_out_of_an_answer_is_not_required() {
    let document = document(&Limits::default());
    for (name, sample) in samples().iter().filter(|(name, _)| !name.ends_with("Request")) {
        let required = &document["components"]["schemas"][*name]["required"];
        let required = required.as_array().map(Vec::as_slice).unwrap_or_default();
        let required: BTreeSet<_> = required.iter().map(|field| field.as_str().unwrap()).collect();
        assert_eq!(required, names(sample), "{name}: answers always hold every field");
    }
    for (name, record) in [
        ("Namespace", serde_json::to_value(Namespace::default()).unwrap()),
        ("Semaphore", serde_json::to_value(Semaphore::default()).unwrap()),
        ("Holder", serde_json::to_value(Holder::default()).unwrap()),
        ("Waiter", serde_json::to_value(Waiter::default()).unwrap()),
        ("Waiting", serde_json::to_value(Waiting::default()).unwrap()),
        ("Lease", serde_json::to_value(Lease::default()).unwrap()),
    ] {
        let required = document["components"]["schemas"][name]["required"].as_array().unwrap();
        let required: BTreeSet<_> = required.iter().map(|field| field.as_str().unwrap()).collect();
        assert_eq!(required, names(&record), "{name}");
    }
}

#[test]
fn every_field_says_what_it_is() {
    let document = document(&Limits::default());
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
            let about = schema["description"].as_str().unwrap_or_default();
            let in_details = name == "Error" && field == "details";
            assert!(about.ends_with('.') || in_details, "{name}.{field}: {schema}");
            if schema["type"] == "integer" {
                assert_eq!(schema["format"], "int64", "{name}.{field}");
                assert!(schema["minimum"].is_i64(), "{name}.{field}");
            }
        }
        let properties: BTreeSet<_> =
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(properties.iter().any(|name| **name == *required), "{name}: {required}");
        }
    }
}

#[test]
fn every_operation_is_a_path_with_its_errors() {
    let document = document(&Limits::default());
    assert_eq!(Operation::POSTS.len(), 20);
    assert_eq!(document["paths"].as_object().unwrap().len(), Operation::POSTS.len() + 1 + 6);
    for operation in Operation::POSTS {
        let name = operation.name();
        let post = &document["paths"][format!("/v1/{name}")]["post"];
        assert_eq!(post["operationId"], name);
        for status in ["200", "400", "413", "415", "500", "503"] {
            assert!(post["responses"].get(status).is_some(), "{name} {status}");
        }
    }
    let watch = &document["paths"]["/v1/WatchSemaphore"]["get"];
    assert_eq!(watch["parameters"][1]["name"], "semaphore_name");
    let events = &watch["responses"]["200"]["content"]["text/event-stream"]["schema"]["$ref"];
    assert_eq!(events, "#/components/schemas/Semaphore");
    assert!(watch["responses"].get("404").is_some());
    let create = &document["paths"]["/v1/CreateSemaphore"]["post"]["responses"];
    assert_eq!(create["429"]["$ref"], "#/components/responses/ResourceExhausted");
}

#[test]
fn plain_semaphores_answer_a_value_or_a_line_of_text() {
    let mut limits = Limits::default();
    limits.max_acquire_timeout_seconds = 55;
    let paths = document(&limits)["paths"].clone();
    let mut ids = BTreeSet::new();
    for (path, methods) in paths.as_object().unwrap() {
        if !path.starts_with("/semaphore") {
            continue;
        }
        for operation in methods.as_object().unwrap().values() {
            ids.insert(operation["operationId"].as_str().unwrap().to_owned());
            for (status, response) in operation["responses"].as_object().unwrap() {
                let text = response["content"].get("text/plain").is_some();
                assert_eq!(text, status != "200", "{path} {status}");
            }
            for status in ["400", "500", "503"] {
                assert!(operation["responses"].get(status).is_some(), "{path} {status}");
            }
        }
    }
    let served = Operation::PLAIN.map(|operation| operation.name().to_owned());
    assert_eq!(ids, BTreeSet::from(served));
    let body = &paths["/semaphore/down"]["post"]["requestBody"]["content"]["application/json"];
    assert_eq!(body["schema"]["properties"]["timeout_seconds"]["maximum"], 55);
}

#[test]
fn every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document(&Limits::default());
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 100, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn maxima_are_those_that_the_operator_set() {
    let mut limits = Limits::default();
    limits.max_lease_ttl_seconds = 77;
    limits.max_acquire_timeout_seconds = 55;
    let schemas = &document(&limits)["components"]["schemas"];
    let property = |of: &str, field: &str| schemas[of]["properties"][field]["maximum"].clone();
    assert_eq!(property("CreateSemaphoreLeaseRequest", "ttl_seconds"), 77);
    assert_eq!(property("AcquireSemaphoreRequest", "timeout_seconds"), 55);
    assert_eq!(property("CreateSemaphoreRequest", "permits"), 9_007_199_254_740_991_i64);
}

#[test]
fn every_example_is_a_request_of_its_operation() {
    let document = document(&Limits::default());
    for operation in Operation::POSTS {
        let name = operation.name();
        let body = &document["paths"][format!("/v1/{name}")]["post"]["requestBody"]["content"];
        let json = &body["application/json"];
        let schema = resolved(&document, &json["schema"]);
        let properties = names(&schema["properties"]);
        let example = names(&json["example"]);
        assert!(example.is_subset(&properties), "{name}: {}", json["example"]);
        for field in schema["required"].as_array().into_iter().flatten() {
            assert!(example.contains(field.as_str().unwrap()), "{name} needs {field}");
        }
    }
}

#[test]
fn no_schema_has_a_list_of_types_or_null() {
    fn look(value: &Value, path: &str) {
        match value {
            Value::Object(members) => {
                assert!(!members.get("type").is_some_and(Value::is_array), "{path}: {value}");
                members.iter().for_each(|(name, member)| look(member, &format!("{path}/{name}")));
            }
            Value::Array(items) => items.iter().for_each(|item| look(item, path)),
            Value::String(word) => assert_ne!(word, "null", "{path}"),
            _ => {}
        }
    }
    look(&document(&Limits::default()), "");
}

/// `GRACKLE_RENEW_OPENAPI=1 cargo test -p grackle-server golden` writes it anew.
#[test]
fn the_document_is_the_golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let document = serde_json::to_string_pretty(&document(&Limits::default())).unwrap() + "\n";
    if std::env::var_os("GRACKLE_RENEW_OPENAPI").is_some() {
        std::fs::write(path, &document).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    let differs = document.lines().zip(golden.lines()).find(|(now, then)| now != then);
    assert_eq!(differs, None, "the document has changed: is that meant? Then renew the file");
    assert_eq!(document.len(), golden.len());
}
