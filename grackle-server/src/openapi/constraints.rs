//! The ranges of fields, by their names: a name means the same wherever it occurs.
//!
//! The client checks them; its constants and the operator's limits are their source.

use grackle_client::{Limits, MAX_PERMITS, field_ranges};
use serde_json::{Value, json};

/// Fields that a request must have.
const REQUIRED: [&str; 9] = [
    "name",
    "namespace_name",
    "semaphore_name",
    "lease_id",
    "process_id",
    "permits",
    "weight",
    "ttl_seconds",
    "expected_version",
];

/// A filter, where it is in a list's request.
const FILTERS: [(&str, &str); 1] = [("ListSemaphoreLeasesRequest", "process_id")];

/// Adds the ranges to a type.
pub(super) fn apply(name: &str, schema: &mut Value, limits: &Limits) {
    let is_request = name.ends_with("Request");
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return unset(name, schema);
    };
    for (field, property) in properties.iter_mut() {
        if let Some(members) = property.as_object_mut() {
            // The derived ones are Rust's, not the API's.
            members.remove("default");
            if field == "metadata" {
                members.remove("$ref");
            }
        }
        let given = is_request.then(|| request_range(field, limits)).flatten();
        let range = given.or_else(|| range(field));
        let members = range.as_ref().and_then(Value::as_object).into_iter().flatten();
        members.for_each(|(key, value)| property[key] = value.clone());
    }
    let fields = properties.keys().map(String::as_str);
    let required =
        fields.filter(|field| REQUIRED.contains(field) && !FILTERS.contains(&(name, field)));
    let required: Vec<_> = required.map(str::to_owned).collect();
    if is_request {
        schema["additionalProperties"] = json!(false);
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
    }
}

/// No answer has the outcome of a field that was never set.
fn unset(name: &str, schema: &mut Value) {
    if let (true, Some(words)) =
        (name == "AcquireOutcome", schema.get_mut("enum").and_then(Value::as_array_mut))
    {
        words.retain(|word| *word != "ACQUIRE_OUTCOME_UNSPECIFIED");
    }
}

fn request_range(field: &str, limits: &Limits) -> Option<Value> {
    Some(match field {
        "ttl_seconds" => json!({ "minimum": 1, "maximum": limits.max_lease_ttl_seconds }),
        "timeout_seconds" => {
            json!({ "minimum": 0, "maximum": limits.max_acquire_timeout_seconds, "default": 0 })
        }
        "limit" => json!({ "minimum": 0, "maximum": field_ranges::MAX_PAGE, "default": 100 }),
        "share" => json!({ "minimum": 0, "maximum": field_ranges::MAX_SHARE, "default": 1 }),
        "expected_version" => json!({ "minimum": 1 }),
        "lease_id" => json!({ "pattern": "^ls_[0-9A-Za-z]{28}$" }),
        "process_id" => json!({ "maxLength": field_ranges::MAX_PROCESS_ID }),
        _ => return None,
    })
}

fn range(field: &str) -> Option<Value> {
    Some(match field {
        "name" | "namespace_name" | "semaphore_name" => {
            json!({ "pattern": format!("^[A-Za-z0-9_-]{{1,{}}}$", field_ranges::MAX_NAME) })
        }
        "permits" | "weight" => json!({ "minimum": 1, "maximum": MAX_PERMITS }),
        "max_waiters" => json!({ "minimum": 0, "maximum": MAX_PERMITS }),
        "share" | "version" | "estimated_wait_seconds" | "seconds" => json!({ "minimum": 1 }),
        "description" => json!({ "maxLength": field_ranges::MAX_DESCRIPTION }),
        "metadata" => json!({
            "type": "object",
            "maxProperties": field_ranges::MAX_METADATA_ENTRIES,
            "propertyNames": { "minLength": 1, "maxLength": field_ranges::MAX_METADATA_KEY },
            "additionalProperties": { "type": "string", "maxLength": field_ranges::MAX_METADATA_VALUE },
        }),
        "active_holds"
        | "active_holders_count"
        | "waiting_count"
        | "waiting_weight"
        | "fencing_token"
        | "acked_replicas"
        | "position"
        | "weight_ahead"
        | "for_seconds"
        | "wait_seconds"
        | "created_at"
        | "updated_at"
        | "last_activity_at"
        | "locked_at"
        | "queued_at"
        | "deadline_at"
        | "expires_at" => json!({ "minimum": 0 }),
        _ => return None,
    })
}
