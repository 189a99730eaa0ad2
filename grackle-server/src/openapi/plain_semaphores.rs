//! The paths of `/semaphore`: their answers are a value, or a line of text.

use grackle_client::Limits;
use serde_json::{Map, Value, json};

const MAX_VALUE: i64 = grackle_client::MAX_PERMITS;
const TEXT: &str = "text/plain";

pub(super) fn paths(limits: &Limits) -> Map<String, Value> {
    let named = || json!({ "name": name() });
    let with_value = json!({ "name": name(), "value": {
        "type": "number", "minimum": 1, "maximum": MAX_VALUE,
        "description": "The first value. It may also be a string of a number; a fraction is cut off.",
    }});
    let with_timeout = json!({ "name": name(), "timeout_seconds": {
        "type": "integer", "minimum": 0, "maximum": limits.max_acquire_timeout_seconds,
        "description": "How long to wait, in seconds; 0 or none answers at once. It may also be a string of digits.",
    }});
    let create = operation(
        "CreateHttpSemaphore",
        "Creates a plain semaphore.",
        [
            body(&with_value, &["name", "value"]),
            responses(&[&[(303, EXISTS), (429, LIMIT)], SENT, AGAIN]),
        ],
    );
    let down = operation(
        "DownHttpSemaphore",
        "Takes one permit; waits up to `timeout_seconds` in a fair queue. Only an up gives the permit back. A caller that hangs up while it waits takes nothing.",
        [
            body(&with_timeout, &["name"]),
            responses(&[&[(404, NONE), (409, LOCKED), (429, LIMIT)], SENT, AGAIN]),
        ],
    );
    let up = operation(
        "UpHttpSemaphore",
        "Gives back one permit of anybody, and hands it to the caller that has waited longest. If none is taken, the value grows above the first one.",
        [body(&named(), &["name"]), responses(&[&[(404, NONE), (429, LIMIT), (503, OPEN)], SENT])],
    );
    let read: &[&[Refused]] = &[&[(400, WRONG), (404, NONE)], AGAIN];
    let value =
        operation("GetHttpSemaphoreValue", "Returns the value.", [segment(), responses(read)]);
    let remove = operation(
        "DeleteHttpSemaphore",
        "Deletes it; waiting callers are answered 404. Returns its last value.",
        [segment(), responses(read)],
    );
    let mut watch = operation(
        "WatchHttpSemaphore",
        "Streams the value: the present one, then each change (only the latest, if they come faster than every 20 ms). With `Last-Event-ID` it continues from there.",
        [segment(), responses(&[&[(400, WRONG), (404, NONE), (429, LIMIT)], AGAIN])],
    );
    if let Some(parameters) = watch["parameters"].as_array_mut() {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header",
            "description": "The id of the last event that was seen.", "schema": { "type": "string" },
        }));
    }
    watch["responses"]["200"] = json!({
        "description": "Server-sent events: name and value as data; `deleted` (data `{}`) as the last one.",
        "content": { "text/event-stream": { "schema": shown() } },
    });
    let all = json!({
        "/semaphore": { "post": create },
        "/semaphore/down": { "post": down },
        "/semaphore/up": { "post": up },
        "/semaphore/value/{name}": { "get": value },
        "/semaphore/watch/{name}": { "get": watch },
        "/semaphore/{name}": { "delete": remove },
    });
    all.as_object().cloned().unwrap_or_default()
}

/// A status, and when it is answered.
type Refused = (u16, &'static str);

/// Of whatever takes a body.
const SENT: &[Refused] = &[
    (400, WRONG),
    (408, "The body did not arrive in time."),
    (413, "The body is larger than 1 MiB."),
    (415, "The body is neither JSON nor a form."),
];
const AGAIN: &[Refused] = &[(503, "Redis cannot be reached, or this server stops: call again.")];
const OPEN: &str =
    "Redis cannot be reached, or this server stops. It may have happened: read the value.";
const EXISTS: &str = "It exists, and was not changed: `Location` leads to its value.";
const WRONG: &str = "The call itself is wrong: correct it.";
const NONE: &str = "semaphore not found";
const LOCKED: &str = "Semaphore locked: the value is 0, or others wait before this call.";
const LIMIT: &str = "A configured limit is reached.";

/// A member of an operation, by its name there.
type Part = (&'static str, Value);

fn operation(id: &str, summary: &str, parts: [Part; 2]) -> Value {
    let mut operation = json!({ "operationId": id, "summary": summary });
    for (name, part) in parts {
        operation[name] = part;
    }
    operation
}

fn name() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 128,
        "description": "1–128 bytes of UTF-8 without slashes and control characters, and not . or ..; percent-encoded in a path.",
    })
}

fn shown() -> Value {
    let value = json!({ "type": "integer", "format": "int64", "minimum": 0, "maximum": MAX_VALUE });
    json!({
        "type": "object", "required": ["name", "value"],
        "properties": { "name": name(), "value": value },
    })
}

fn body(properties: &Value, required: &[&str]) -> Part {
    let schema = json!({ "type": "object", "required": required, "properties": properties });
    let content = json!({
        "application/json": { "schema": schema },
        "application/x-www-form-urlencoded": { "schema": schema },
    });
    ("requestBody", json!({ "required": true, "content": content }))
}

fn segment() -> Part {
    let parameter = json!({ "name": "name", "in": "path", "required": true, "schema": name() });
    ("parameters", json!([parameter]))
}

fn responses(refusals: &[&[Refused]]) -> Part {
    let text = json!({ TEXT: { "schema": { "type": "string" } } });
    let mut responses = json!({ "200": {
        "description": "The semaphore.",
        "content": { "application/json": { "schema": shown() } },
    }});
    let fault = (500, "A fault; the server's log says more.");
    for (status, about) in refusals.iter().copied().flatten().chain([&fault]) {
        responses[status.to_string()] = json!({ "description": about, "content": text });
    }
    if let Some(exists) = responses.get_mut("303") {
        exists["headers"] = json!({ "Location": { "schema": { "type": "string" } } });
    }
    ("responses", responses)
}
