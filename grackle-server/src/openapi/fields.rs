//! What each field is. A field's name has one meaning wherever it occurs, but for the few that
//! are told apart by their type.

use grackle_client::Limits;
use serde_json::{Value, json};

/// 2^53 − 1: exact in JSON writers whose numbers are doubles, and in Lua.
const MAX_PERMITS: i64 = (1 << 53) - 1;

const MAX_PAGE: i64 = 250;

const CONVOY: &str = "\
Only where there is one, as this server sees it: for a minute at least the queue was never seen empty, \
and waits grew (the longest of a quarter of the minute never fell, and of the last is at least half as \
long again as of the first). Over when the queue is seen empty, or waits grow no more, or nobody was \
seen to wait for 20 s.";

/// The schema of a type's field.
pub(super) fn schema(of: &str, field: &str, limits: &Limits) -> Value {
    match field {
        "name" | "namespace_name" | "semaphore_name" => name(of, field),
        "permits" => int("The total capacity.", 1, Some(MAX_PERMITS)),
        "weight" if of == "Holder" => int("Permits held.", 1, Some(MAX_PERMITS)),
        "weight" if of == "Drained" => {
            int("Sum of the weights granted to those who waited.", 1, Some(MAX_PERMITS))
        }
        "position" if of == "Waiter" => int("1 is next; 0 where it is parked.", 0, None),
        "weight" => int("Permits wanted, all or none.", 1, Some(MAX_PERMITS)),
        "max_waiters" => max_waiters(of),
        "share" if of == "Waiter" => {
            int("What its process gets beside the others.", 1, Some(1_000))
        }
        "share" => share(),
        "ttl_seconds" => int("Life from now, in seconds.", 1, Some(limits.max_lease_ttl_seconds)),
        "timeout_seconds" => timeout_seconds(limits),
        "expected_version" => int("The version that the caller has seen.", 1, None),
        "limit" => page_size(),
        _ => count(field).or_else(|| time(field)).unwrap_or_else(|| other(of, field)),
    }
}

fn count(field: &str) -> Option<Value> {
    let (about, least) = match field {
        "active_holds" => ("Sum of the holders' weights.", 0),
        "active_holders_count" => ("Number of holders.", 0),
        "waiting_count" => ("Number of waiters in the queue whose servers listen.", 0),
        "waiting_weight" => ("Sum of those waiters' weights, shown up to 2^53 - 1.", 0),
        "fencing_token" => (
            "Grows from hold to hold of one semaphore and stays while the hold lives; 0 where \
             nothing is held.",
            0,
        ),
        "acked_replicas" => (
            "How many replicas are known to have the hold; only where it was acquired and the \
             server has --ack-replicas. Fewer than that: a failover may forget it.",
            0,
        ),
        "position" => {
            ("The place that it has or would have among those whose servers listen; 1 is next.", 1)
        }
        "weight_ahead" => ("Sum of the weights of those before it.", 0),
        "estimated_wait_seconds" => (
            "How long it takes, rounded up, until weight_ahead and its own weight are granted, if \
             the queue goes on as it did of late. Only where there is `drained`.",
            1,
        ),
        "seconds" => {
            ("In so many seconds, up to now: 30 to 60, or as long as there has been a queue.", 1)
        }
        "for_seconds" => ("Seconds since the convoy began; 60 at least.", 0),
        "wait_seconds" => (
            "Seconds of the longest wait, so far or until its grant, of a caller of this server in \
             the last 20 s.",
            0,
        ),
        "version" => ("1 at creation, one more with every update.", 1),
        _ => return None,
    };
    Some(int(about, least, None))
}

fn time(field: &str) -> Option<Value> {
    let about = match field {
        "created_at" => "When it was made.",
        "updated_at" => "When it was last updated; `created_at` until then.",
        "last_activity_at" => "When somebody last tried to acquire, or released.",
        "locked_at" => "When this hold was last granted.",
        "queued_at" => "When it began to wait.",
        "deadline_at" => "When the last of its calls times out.",
        "expires_at" => "From then on the lease is gone, and never revived.",
        _ => return None,
    };
    Some(int(&format!("{about} Nanoseconds since the Unix epoch."), 0, None))
}

fn other(of: &str, field: &str) -> Value {
    match field {
        "description" => {
            text(json!({ "description": "Free text, up to 1,024 bytes.", "maxLength": 1024 }))
        }
        "metadata" => metadata(),
        "lease_id" => text(json!({
            "description": "A lease of the namespace.",
            "pattern": "^ls_[0-9A-Za-z]{28}$",
        })),
        "process_id" => process_id(of),
        "pagination_token" => text(json!({
            "description": "A token of an earlier page; empty for the first.",
        })),
        "next_pagination_token" => text(json!({
            "description": "The token of the next page; empty where there is none.",
        })),
        "previous_pagination_token" => text(json!({
            "description": "The token of the page before; empty where there is none.",
        })),
        "outcome" => outcome(),
        "queue_discipline" => queue_discipline(of),
        _ => flag(field).unwrap_or_else(|| record(of, field)),
    }
}

fn flag(field: &str) -> Option<Value> {
    let about = match field {
        "explain" => "Have an answer that it was not granted say why, in `waiting`.",
        "set_aside" => "Passed over for now, as nobody listens for its answer; its place is kept.",
        "weight_ahead_is_least" => {
            "Only where true: weight_ahead is that much at least. More than 500 stand before it and \
             as many behind; beyond the first 500 each counts as 1. Or it is more than 2^53 - 1."
        }
        _ => return None,
    };
    Some(json!({ "type": "boolean", "description": about }))
}

fn name(of: &str, field: &str) -> Value {
    let about = match (of, field) {
        ("CreateNamespaceRequest", _) => "The namespace's name, unused so far.",
        ("CreateSemaphoreRequest", "semaphore_name") => "The semaphore's name, unused so far.",
        (_, "namespace_name") => "The namespace.",
        (_, "semaphore_name") => "The semaphore.",
        _ => "Its name.",
    };
    text(json!({ "description": about, "pattern": "^[A-Za-z0-9_-]{1,128}$" }))
}

fn timeout_seconds(limits: &Limits) -> Value {
    let most = limits.max_acquire_timeout_seconds;
    let mut schema = int("How long to wait, in seconds; 0 answers at once.", 0, Some(most));
    schema["default"] = json!(0);
    schema
}

fn page_size() -> Value {
    let mut schema = int("Entries a page; 0 means 100.", 0, Some(MAX_PAGE));
    schema["default"] = json!(100);
    schema
}

fn process_id(of: &str) -> Value {
    let (about, least) = match of {
        "ListSemaphoreLeasesRequest" => ("Only the leases of this process; empty for all.", 0),
        _ => ("The caller's name for itself: free-form UTF-8, 1 to 256 bytes.", 1),
    };
    text(json!({ "description": about, "minLength": least, "maxLength": 256 }))
}

fn metadata() -> Value {
    json!({
        "type": "object",
        "description": "Labels: up to 32, keys of 1 to 128 bytes, values of up to 256 bytes.",
        "maxProperties": 32,
        "propertyNames": { "minLength": 1, "maxLength": 128 },
        "additionalProperties": { "type": "string", "maxLength": 256 },
    })
}

fn outcome() -> Value {
    text(json!({
        "description": "ACQUIRED: the lease holds the permits. UNAVAILABLE: not free, and \
                        timeout_seconds was 0. TIMED_OUT: not granted within timeout_seconds.",
        "enum": [
            "ACQUIRE_OUTCOME_ACQUIRED",
            "ACQUIRE_OUTCOME_UNAVAILABLE",
            "ACQUIRE_OUTCOME_TIMED_OUT",
        ],
    }))
}

/// What a semaphore has it always says; what a request leaves out it does not change.
fn queue_discipline(of: &str) -> Value {
    let about = match of {
        "Semaphore" => "Who of those that wait is next.",
        "CreateSemaphoreRequest" => "Who of those that wait is next; FIFO where it is left out.",
        _ => "Left out, it stays. Another one re-orders at once all who wait.",
    };
    let mut disciplines =
        vec!["QUEUE_DISCIPLINE_FIFO", "QUEUE_DISCIPLINE_LIFO", "QUEUE_DISCIPLINE_WEIGHTED"];
    if of != "Semaphore" {
        disciplines.insert(0, "QUEUE_DISCIPLINE_UNSPECIFIED");
    }
    text(json!({
        "description": format!(
            "{about} FIFO: who came first. LIFO: who came last; who came first may starve. WEIGHTED: \
             processes by their shares, each one's own by arrival."
        ),
        "enum": disciplines,
    }))
}

fn max_waiters(of: &str) -> Value {
    let about = match of {
        "Semaphore" => "How many may wait, where it has a bound of its own.",
        "CreateSemaphoreRequest" => {
            "How many may wait, beside the server's limit; 0 for no bound of its own."
        }
        _ => "How many may wait, beside the server's limit. Left out, it stays; 0 removes it.",
    };
    int(about, 0, Some(MAX_PERMITS))
}

fn share() -> Value {
    let about = "What its process gets of the permits beside others that wait, where the discipline \
                 is WEIGHTED; 0 means 1.";
    let mut schema = int(about, 0, Some(1_000));
    schema["default"] = json!(1);
    schema
}

fn record(of: &str, field: &str) -> Value {
    let (list, record, about) = match field {
        "namespace" => (false, "Namespace", "Its record."),
        "semaphore" => (false, "Semaphore", "Its record, right after the call."),
        "lease" => (false, "Lease", "Its record."),
        "convoy" => (false, "Convoy", CONVOY),
        "namespaces" => (true, "Namespace", "In name order."),
        "semaphores" => (true, "Semaphore", "In name order."),
        "leases" => (true, "Lease", "By created_at, then by lease_id."),
        "holders" if of == "Waiting" => (true, "Holder", "The first 10, by locked_at."),
        "holders" => (true, "Holder", "By locked_at, then by lease_id."),
        "waiters" => (
            true,
            "Waiter",
            "In the order in which they are admitted. Those parked stand among them, where they \
             come back.",
        ),
        "waiter" => (false, "Waiter", "Its record."),
        "waiting" => (
            false,
            "Waiting",
            "Why it waits; of an acquire, only where it was not granted and `explain` was asked for.",
        ),
        "drained" => (
            false,
            "Drained",
            "How the queue went on of late; only where somebody who waited was granted something.",
        ),
        _ => return Value::Null,
    };
    let mut schema = super::reference(record);
    if list {
        schema = json!({ "type": "array", "items": schema });
    }
    schema["description"] = json!(about);
    schema
}

fn int(about: &str, least: i64, most: Option<i64>) -> Value {
    let mut schema = json!({
        "type": "integer",
        "format": "int64",
        "description": about,
        "minimum": least,
    });
    if let Some(most) = most {
        schema["maximum"] = json!(most);
    }
    schema
}

fn text(mut schema: Value) -> Value {
    schema["type"] = json!("string");
    schema
}
