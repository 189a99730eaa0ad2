//! A request of each operation, as an example.

use grackle_client::wire::*;
use serde::Serialize;
use serde_json::Value;

use crate::operation::Operation;

const LEASE: &str = "ls_du8JjaEgOZFOKCcHjv3pPU84o0iN";

/// The example of an operation that is a POST, without the fields that have their default value.
pub(super) fn request(operation: Operation) -> Value {
    let [namespace_name, semaphore_name, lease_id] =
        ["third_parties", "partner_1", LEASE].map(str::to_owned);
    match operation {
        Operation::CreateNamespace => short(&CreateNamespaceRequest {
            name: namespace_name,
            description: "Limits of third parties".to_owned(),
            ..Default::default()
        }),
        Operation::GetNamespace => short(&GetNamespaceRequest { namespace_name }),
        Operation::UpdateNamespace => short(&UpdateNamespaceRequest {
            namespace_name,
            description: "Limits of our third parties".to_owned(),
            expected_version: 1,
            ..Default::default()
        }),
        Operation::DeleteNamespace => short(&DeleteNamespaceRequest { namespace_name }),
        Operation::ListNamespaces => {
            short(&ListNamespacesRequest { limit: 50, ..Default::default() })
        }
        Operation::CreateSemaphore => short(&CreateSemaphoreRequest {
            namespace_name,
            semaphore_name,
            permits: 20,
            ..Default::default()
        }),
        Operation::UpdateSemaphore => short(&UpdateSemaphoreRequest {
            namespace_name,
            semaphore_name,
            permits: 30,
            expected_version: 1,
            ..Default::default()
        }),
        Operation::ListSemaphores => {
            short(&ListSemaphoresRequest { namespace_name, limit: 50, ..Default::default() })
        }
        Operation::AcquireSemaphore => short(&AcquireSemaphoreRequest {
            namespace_name,
            semaphore_name,
            lease_id,
            weight: 3,
            timeout_seconds: 30,
            ..Default::default()
        }),
        Operation::ReleaseSemaphore | Operation::GetSemaphoreWaiter => {
            short(&ReleaseSemaphoreRequest { namespace_name, semaphore_name, lease_id })
        }
        Operation::CreateSemaphoreLease => short(&CreateSemaphoreLeaseRequest {
            namespace_name,
            process_id: "host-123/pid-4567".to_owned(),
            ttl_seconds: 60,
            ..Default::default()
        }),
        Operation::RefreshSemaphoreLease => {
            short(&RefreshSemaphoreLeaseRequest { namespace_name, lease_id, ttl_seconds: 60 })
        }
        Operation::GetSemaphoreLease | Operation::RevokeSemaphoreLease => {
            short(&GetSemaphoreLeaseRequest { namespace_name, lease_id })
        }
        Operation::ListSemaphoreLeases => {
            short(&ListSemaphoreLeasesRequest { namespace_name, limit: 50, ..Default::default() })
        }
        // All others name a semaphore.
        _ => short(&GetSemaphoreRequest { namespace_name, semaphore_name }),
    }
}

fn short(request: &impl Serialize) -> Value {
    let mut request = serde_json::to_value(request).unwrap_or_default();
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|name, value| !is_default(name, value));
    }
    request
}

fn is_default(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty() || name == "queue_discipline",
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Object(members) => members.is_empty(),
        other => *other == Value::Bool(false) || other.is_null(),
    }
}
