//! `/openapi.json`: the operations, their types and errors, as OpenAPI 3.1.
//!
//! Built from three tables: the operations, the `types` and the `fields`. Tests hold them against
//! the types of [`grackle_client`], field by field.

mod fields;
mod http_semaphores;
mod types;

use grackle_client::Limits;
use serde_json::{Map, Value, json};

use crate::error::Code;
use crate::operations::{OPERATIONS, Operation};
use crate::watch;

const ABOUT: &str = "\
Distributed weighted semaphores on Redis. Every operation is a POST of a JSON object, but for \
WatchSemaphore, a GET; beside them are plain semaphores without leases, under /semaphore. Timestamps are nanoseconds since the Unix epoch, by Redis' clock. 64-bit integers are JSON numbers in \
answers, and may be numbers or strings of digits in requests. An unknown field is refused. \
Repeating any call is safe, but for down and up of a plain semaphore.";

const WATCHED: &str = "\
Server-sent events: `semaphore` with a Semaphore as data, `deleted` (data `{}`) as the last one, \
comments in between. Changes that come faster than they are read, or than every 20 ms, are one. A \
stream that ends without `deleted` is to be asked for again: its server stops.";

/// What any operation may answer.
const COMMON_ERRORS: [Code; 6] = [
    Code::InvalidArgument,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::Internal,
    Code::Unavailable,
];

/// The document, with the maxima that `limits` sets.
pub(crate) fn document(limits: &Limits) -> Value {
    let mut schemas = types::schemas(limits);
    schemas.insert("Error".to_owned(), error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Grackle",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths(limits),
        "components": {
            "schemas": schemas,
            "responses": error_responses(),
        },
    })
}

fn paths(limits: &Limits) -> Map<String, Value> {
    let operations = OPERATIONS.iter().map(path).chain([watch_path(limits)]);
    operations.chain(http_semaphores::paths(limits)).collect()
}

fn path(operation: &Operation) -> (String, Value) {
    let post = json!({
        "operationId": operation.name,
        "summary": operation.about,
        "requestBody": { "required": true, "content": content(operation.request) },
        "responses": responses(operation),
    });
    (format!("/v1/{}", operation.name), json!({ "post": post }))
}

fn responses(operation: &Operation) -> Map<String, Value> {
    let answer = json!({ "description": "The answer.", "content": content(operation.answer) });
    let errors = COMMON_ERRORS.iter().chain(operation.errors).map(error_response);
    std::iter::once(("200".to_owned(), answer)).chain(errors).collect()
}

fn error_response(code: &Code) -> (String, Value) {
    let (word, status) = code.row();
    let reference = format!("#/components/responses/{word}");
    (status.as_str().to_owned(), json!({ "$ref": reference }))
}

fn watch_path(limits: &Limits) -> (String, Value) {
    let parameter = |name: &str| {
        let schema = fields::schema(watch::NAME, name, limits);
        json!({ "name": name, "in": "query", "required": true, "schema": schema })
    };
    let events = json!({
        "description": WATCHED,
        "content": { "text/event-stream": { "schema": reference("Semaphore") } },
    });
    let errors = watch::ERRORS.iter().map(error_response);
    let get = json!({
        "operationId": watch::NAME,
        "summary": "Streams the states of a semaphore: the current one at once, then what changes.",
        "parameters": [parameter("namespace_name"), parameter("semaphore_name")],
        "responses": std::iter::once(("200".to_owned(), events)).chain(errors).collect::<Map<_, _>>(),
    });
    (format!("/v1/{}", watch::NAME), json!({ "get": get }))
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": reference(schema) } })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn error_responses() -> Map<String, Value> {
    let specific = OPERATIONS.iter().flat_map(|operation| operation.errors);
    let describe = |code: &Code| {
        let response = json!({ "description": when(*code), "content": content("Error") });
        (code.word().to_owned(), response)
    };
    COMMON_ERRORS.iter().chain(specific).map(describe).collect()
}

fn when(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument => "The call itself is wrong: correct it.",
        Code::NotFound => "The namespace, semaphore, lease or waiter is not there.",
        Code::MethodNotAllowed => "Another method is needed.",
        Code::RequestTimeout => "The body did not arrive in time.",
        Code::AlreadyExists => "It is there already, untouched.",
        Code::Locked => "The value is 0, or others wait before this one.",
        Code::PayloadTooLarge => "The body is larger than 1 MiB.",
        Code::UnsupportedMediaType => "The content type is not application/json.",
        Code::ResourceExhausted => "A configured limit is reached; `details.limit` names it.",
        Code::Internal => "A fault; the server's log says more.",
        Code::Unavailable => "Redis cannot be reached, or this server stops: ask again.",
    }
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "What went wrong.",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "string", "description": "A word for programs." },
            "message": { "type": "string", "description": "A line for people." },
            "details": {
                "type": "object",
                "description": "The offending `field`, or the `limit` that is reached.",
                "properties": { "field": { "type": "string" }, "limit": { "type": "string" } },
                "additionalProperties": { "type": "string" },
            },
        },
    })
}

#[cfg(test)]
mod tests;
