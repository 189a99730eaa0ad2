//! Which fields each type has: those that are always there (or needed), then the others.

use grackle_client::Limits;
use serde_json::{Map, Value, json};

use super::fields;

/// Name, required fields, optional fields.
type Type = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Nothing beyond the named fields is taken.
const REQUESTS: &[Type] = &[
    ("CreateNamespaceRequest", &["name"], &["description", "metadata"]),
    ("GetNamespaceRequest", &["namespace_name"], &[]),
    (
        "UpdateNamespaceRequest",
        &["namespace_name", "expected_version"],
        &["description", "metadata"],
    ),
    ("DeleteNamespaceRequest", &["namespace_name"], &[]),
    ("ListNamespacesRequest", &[], &["limit", "pagination_token"]),
    (
        "CreateSemaphoreRequest",
        &["namespace_name", "semaphore_name", "permits"],
        &["queue_discipline", "max_waiters", "description", "metadata"],
    ),
    ("GetSemaphoreRequest", &["namespace_name", "semaphore_name"], &[]),
    (
        "UpdateSemaphoreRequest",
        &["namespace_name", "semaphore_name", "permits", "expected_version"],
        &["queue_discipline", "max_waiters", "description", "metadata"],
    ),
    ("DeleteSemaphoreRequest", &["namespace_name", "semaphore_name"], &[]),
    ("ListSemaphoresRequest", &["namespace_name"], &["limit", "pagination_token"]),
    (
        "AcquireSemaphoreRequest",
        &["namespace_name", "semaphore_name", "lease_id", "weight"],
        &["timeout_seconds", "share", "metadata", "explain"],
    ),
    ("ReleaseSemaphoreRequest", &["namespace_name", "semaphore_name", "lease_id"], &[]),
    (
        "ListSemaphoreHoldersRequest",
        &["namespace_name", "semaphore_name"],
        &["limit", "pagination_token"],
    ),
    (
        "ListSemaphoreWaitersRequest",
        &["namespace_name", "semaphore_name"],
        &["limit", "pagination_token"],
    ),
    ("GetSemaphoreWaiterRequest", &["namespace_name", "semaphore_name", "lease_id"], &[]),
    (
        "CreateSemaphoreLeaseRequest",
        &["namespace_name", "process_id", "ttl_seconds"],
        &["metadata"],
    ),
    ("GetSemaphoreLeaseRequest", &["namespace_name", "lease_id"], &[]),
    ("RefreshSemaphoreLeaseRequest", &["namespace_name", "lease_id", "ttl_seconds"], &[]),
    ("RevokeSemaphoreLeaseRequest", &["namespace_name", "lease_id"], &[]),
    (
        "ListSemaphoreLeasesRequest",
        &["namespace_name"],
        &["process_id", "limit", "pagination_token"],
    ),
];

const ANSWERS: &[Type] = &[
    ("Namespace", &["name", "version", "created_at", "updated_at"], &["description", "metadata"]),
    (
        "Semaphore",
        &[
            "name",
            "permits",
            "active_holds",
            "active_holders_count",
            "waiting_count",
            "waiting_weight",
            "queue_discipline",
            "version",
            "created_at",
            "updated_at",
            "last_activity_at",
        ],
        &["max_waiters", "description", "metadata"],
    ),
    ("Holder", &["lease_id", "weight", "locked_at", "fencing_token"], &["metadata"]),
    (
        "Waiter",
        &[
            "lease_id",
            "process_id",
            "weight",
            "share",
            "queued_at",
            "deadline_at",
            "position",
            "set_aside",
        ],
        &["metadata"],
    ),
    (
        "Waiting",
        &["position", "weight_ahead", "holders"],
        &["weight_ahead_is_least", "estimated_wait_seconds", "drained"],
    ),
    ("Drained", &["weight", "seconds"], &[]),
    ("Lease", &["lease_id", "process_id", "created_at", "expires_at"], &["metadata"]),
    ("NamespaceResponse", &["namespace"], &[]),
    ("SemaphoreResponse", &["semaphore"], &[]),
    ("GetSemaphoreResponse", &["semaphore"], &["convoy"]),
    ("Convoy", &["for_seconds", "wait_seconds"], &[]),
    ("LeaseResponse", &["lease"], &[]),
    (
        "AcquireSemaphoreResponse",
        &["semaphore", "outcome", "fencing_token"],
        &["acked_replicas", "waiting"],
    ),
    ("SemaphoreWaiterResponse", &["waiter", "waiting"], &[]),
    ("ListNamespacesResponse", &["namespaces", NEXT, PREVIOUS], &[]),
    ("ListSemaphoresResponse", &["semaphores", NEXT, PREVIOUS], &[]),
    ("ListSemaphoreHoldersResponse", &["holders", NEXT, PREVIOUS], &[]),
    ("ListSemaphoreWaitersResponse", &["waiters", NEXT, PREVIOUS], &[]),
    ("ListSemaphoreLeasesResponse", &["leases", NEXT, PREVIOUS], &[]),
    ("Empty", &[], &[]),
];

const NEXT: &str = "next_pagination_token";
const PREVIOUS: &str = "previous_pagination_token";

pub(super) fn schemas(limits: &Limits) -> Map<String, Value> {
    let requests = REQUESTS.iter().map(|row| (row.0.to_owned(), schema(row, true, limits)));
    let answers = ANSWERS.iter().map(|row| (row.0.to_owned(), schema(row, false, limits)));
    requests.chain(answers).collect()
}

fn schema(&(name, required, optional): &Type, closed: bool, limits: &Limits) -> Value {
    let all = required.iter().chain(optional);
    let properties = all.map(|field| ((*field).to_owned(), fields::schema(name, field, limits)));
    let mut schema = json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    schema
}
