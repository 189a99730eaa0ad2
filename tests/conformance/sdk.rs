//! The SDK, without a server.

use grackle_client::{Client, Error, ErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::case::{Request, Target};
use crate::transport::Transport;

/// Methods of a [`Client`], by their operations' names.
pub(crate) struct Sdk(Client);

impl Sdk {
    pub(crate) fn new(client: Client) -> Self {
        Self(client)
    }

    async fn call(&self, operation: &str, with: Value) -> Result<(Value, Value), String> {
        let client = &self.0;
        let answer = match operation {
            "CreateNamespace" => run(with, |r| client.create_namespace(r)).await,
            "GetNamespace" => run(with, |r| client.get_namespace(r)).await,
            "UpdateNamespace" => run(with, |r| client.update_namespace(r)).await,
            "DeleteNamespace" => run(with, |r| client.delete_namespace(r)).await,
            "ListNamespaces" => run(with, |r| client.list_namespaces(r)).await,
            "CreateSemaphore" => run(with, |r| client.create_semaphore(r)).await,
            "GetSemaphore" => run(with, |r| client.get_semaphore(r)).await,
            "UpdateSemaphore" => run(with, |r| client.update_semaphore(r)).await,
            "DeleteSemaphore" => run(with, |r| client.delete_semaphore(r)).await,
            "ListSemaphores" => run(with, |r| client.list_semaphores(r)).await,
            "AcquireSemaphore" => run(with, |r| client.acquire_semaphore(r)).await,
            "ReleaseSemaphore" => run(with, |r| client.release_semaphore(r)).await,
            "ListSemaphoreHolders" => run(with, |r| client.list_semaphore_holders(r)).await,
            "ListSemaphoreWaiters" => run(with, |r| client.list_semaphore_waiters(r)).await,
            "GetSemaphoreWaiter" => run(with, |r| client.get_semaphore_waiter(r)).await,
            "CreateSemaphoreLease" => run(with, |r| client.create_semaphore_lease(r)).await,
            "GetSemaphoreLease" => run(with, |r| client.get_semaphore_lease(r)).await,
            "RefreshSemaphoreLease" => run(with, |r| client.refresh_semaphore_lease(r)).await,
            "RevokeSemaphoreLease" => run(with, |r| client.revoke_semaphore_lease(r)).await,
            "ListSemaphoreLeases" => run(with, |r| client.list_semaphore_leases(r)).await,
            _ => return Err(format!("no such operation: {operation}")),
        };
        Ok(answer)
    }
}

impl Transport for Sdk {
    async fn send(&self, request: Request) -> Result<(Value, Value), String> {
        let Request { target: Target::Operation(operation), with, text: None, headers } = request
        else {
            return Err("the SDK speaks no HTTP".to_owned());
        };
        assert!(headers.is_empty(), "the SDK has no headers");
        self.call(&operation, with.unwrap_or_else(|| json!({}))).await
    }
}

async fn run<Q, A, F>(with: Value, call: impl FnOnce(Q) -> F) -> (Value, Value)
where
    Q: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    // What Rust's types refuse is refused here, as a server refuses it.
    let request = match serde_path_to_error::deserialize(with) {
        Ok(request) => request,
        Err(error) => return failure(400, "InvalidArgument", &error.to_string()),
    };
    match call(request).await {
        Ok(answer) => (200.into(), serde_json::to_value(answer).expect("JSON")),
        Err(error) => {
            let (status, code) = status(error.kind());
            failure(status, code, &error.to_string())
        }
    }
}

fn failure(status: u16, code: &str, message: &str) -> (Value, Value) {
    (status.into(), json!({"code": code, "message": message}))
}

fn status(kind: ErrorKind) -> (u16, &'static str) {
    match kind {
        ErrorKind::InvalidArgument => (400, "InvalidArgument"),
        ErrorKind::NotFound => (404, "NotFound"),
        ErrorKind::AlreadyExists => (409, "AlreadyExists"),
        ErrorKind::ResourceExhausted => (429, "ResourceExhausted"),
        ErrorKind::Unavailable => (503, "Unavailable"),
        _ => (500, "Internal"),
    }
}
