//! The whole document.

use grackle_client::Limits;
use serde_json::{Map, Value, json};

use super::{examples, plain_semaphores, schemas};
use crate::error::Code;
use crate::operation::{COMMON_ERRORS, Operation, with_operations};

const ABOUT: &str = "\
Distributed weighted semaphores on Redis. Every operation is a POST of a JSON object, except \
WatchSemaphore, which is a GET. /semaphore has plain semaphores without leases. Timestamps are \
nanoseconds since the Unix epoch, by Redis' clock. 64-bit integers are JSON numbers; requests may also \
have them as strings of digits. An unknown field is refused. Every call may be repeated safely, except \
down and up of a plain semaphore.";

const WATCHED: &str = "\
Server-sent events: `semaphore` with a Semaphore as data, `deleted` (data `{}`) as the last one, and \
comments. If changes come faster than they are read, or than every 20 ms, only the latest state is \
sent. If the stream ends without `deleted`, its server stops: connect again.";

/// The summary, request and answer of each operation that is a POST.
type Row = (Operation, &'static str, &'static str, &'static str);

macro_rules! rows {
    ($($summary:literal $name:ident($request:ident) -> $answer:ident
       = $method:ident $(, $error:ident)*;)*) => {
        const ROWS: &[Row] = &[$(
            (Operation::$name, $summary, stringify!($request), stringify!($answer)),
        )*];
    };
}
with_operations!(rows);

/// The errors that a watch may answer with.
const WATCH_ERRORS: [Code; 3] = [Code::InvalidArgument, Code::Internal, Code::Unavailable];

/// The document, with the maxima that `limits` sets.
pub(crate) fn document(limits: &Limits) -> Value {
    let mut schemas = schemas::schemas(limits);
    schemas.insert("Error".to_owned(), error_schema());
    let name = schemas["GetSemaphoreRequest"]["properties"].clone();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Grackle",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths(limits, &name),
        "components": {
            "schemas": schemas,
            "responses": error_responses(),
        },
    })
}

fn paths(limits: &Limits, names: &Value) -> Map<String, Value> {
    let operations = ROWS.iter().map(path).chain([watch_path(names)]);
    operations.chain(plain_semaphores::paths(limits)).collect()
}

fn path(&(operation, summary, request, answer): &Row) -> (String, Value) {
    let mut body = content(request);
    body["application/json"]["example"] = examples::request(operation);
    let post = json!({
        "operationId": operation.name(),
        "summary": summary,
        "requestBody": { "required": true, "content": body },
        "responses": responses(operation, answer),
    });
    (format!("/v1/{}", operation.name()), json!({ "post": post }))
}

fn responses(operation: Operation, answer: &str) -> Map<String, Value> {
    let answer = json!({ "description": "The answer.", "content": content(answer) });
    let errors = COMMON_ERRORS.iter().chain(operation.errors()).map(error_response);
    std::iter::once(("200".to_owned(), answer)).chain(errors).collect()
}

fn error_response(code: &Code) -> (String, Value) {
    let (word, status) = code.row();
    let reference = format!("#/components/responses/{word}");
    (status.as_str().to_owned(), json!({ "$ref": reference }))
}

fn watch_path(names: &Value) -> (String, Value) {
    let operation = Operation::WatchSemaphore;
    let parameter = |name: &str| json!({ "name": name, "in": "query", "required": true, "schema": names[name] });
    let events = json!({
        "description": WATCHED,
        "content": { "text/event-stream": { "schema": reference("Semaphore") } },
    });
    let errors = WATCH_ERRORS.iter().chain(operation.errors()).map(error_response);
    let get = json!({
        "operationId": operation.name(),
        "summary": "Streams the states of a semaphore: the present one, then each change.",
        "parameters": [parameter("namespace_name"), parameter("semaphore_name")],
        "responses": std::iter::once(("200".to_owned(), events)).chain(errors).collect::<Map<_, _>>(),
    });
    (format!("/v1/{}", operation.name()), json!({ "get": get }))
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": reference(schema) } })
}

fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

fn error_responses() -> Map<String, Value> {
    let specific = Operation::all().flat_map(Operation::errors);
    let describe = |code: &Code| {
        let response = json!({ "description": when(*code), "content": content("Error") });
        (code.word().to_owned(), response)
    };
    COMMON_ERRORS.iter().chain(specific).map(describe).collect()
}

fn when(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument => "The call itself is wrong: correct it.",
        Code::NotFound => "The namespace, semaphore, lease or waiter does not exist.",
        Code::MethodNotAllowed => "The path needs another method.",
        Code::RequestTimeout => "The body did not arrive in time.",
        Code::AlreadyExists => "It exists, and was not changed.",
        Code::Locked => "The value is 0, or others wait before this call.",
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
            "code": {
                "type": "string",
                "description": "A word for programs.",
                "enum": Code::ALL.map(Code::word),
            },
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
#[path = "tests.rs"]
mod tests;
