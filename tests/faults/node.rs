//! A way to Grackle: the SDK, or a server over HTTP.

use grackle_client::wire::{
    AcquireSemaphoreRequest, AcquireSemaphoreResponse, CreateSemaphoreLeaseRequest, LeaseResponse,
    ReleaseSemaphoreRequest, RevokeSemaphoreLeaseRequest, SemaphoreResponse,
};
use grackle_client::{Client, Error, ErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use grackle_test_support::Http;

/// Where a caller calls. A server that is replaced has its successor behind the same node.
#[derive(Clone)]
pub(crate) enum Node {
    Sdk(Client),
    Server(watch::Receiver<Http>),
}

/// Why there is no answer.
pub(crate) enum Failure {
    /// What became of the call is not known; asking again is safe.
    Unknown,
    /// The lease, the semaphore or the namespace is not there.
    Gone,
    /// What nobody should be told.
    Wrong(String),
}

impl Node {
    pub(crate) async fn acquire(
        &self,
        request: AcquireSemaphoreRequest,
    ) -> Result<AcquireSemaphoreResponse, Failure> {
        match self {
            Self::Sdk(client) => Ok(client.acquire_semaphore(request).await?),
            Self::Server(server) => post(server, "AcquireSemaphore", &request).await,
        }
    }

    pub(crate) async fn release(
        &self,
        request: ReleaseSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Failure> {
        match self {
            Self::Sdk(client) => Ok(client.release_semaphore(request).await?),
            Self::Server(server) => post(server, "ReleaseSemaphore", &request).await,
        }
    }

    pub(crate) async fn create_lease(
        &self,
        request: CreateSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Failure> {
        match self {
            Self::Sdk(client) => Ok(client.create_semaphore_lease(request).await?),
            Self::Server(server) => post(server, "CreateSemaphoreLease", &request).await,
        }
    }

    pub(crate) async fn revoke_lease(
        &self,
        request: RevokeSemaphoreLeaseRequest,
    ) -> Result<(), Failure> {
        match self {
            Self::Sdk(client) => client.revoke_semaphore_lease(request).await.map(|_| ())?,
            Self::Server(server) => {
                let _: serde_json::Value = post(server, "RevokeSemaphoreLease", &request).await?;
            }
        }
        Ok(())
    }
}

async fn post<A: DeserializeOwned>(
    server: &watch::Receiver<Http>,
    operation: &str,
    request: &impl Serialize,
) -> Result<A, Failure> {
    let http = server.borrow().clone();
    let body = serde_json::to_value(request).expect("JSON");
    let (status, body) = http.call(operation, body).await.ok_or(Failure::Unknown)?;
    match status {
        200 => serde_json::from_value(body).map_err(|error| Failure::Wrong(error.to_string())),
        404 => Err(Failure::Gone),
        429 | 503 => Err(Failure::Unknown),
        _ => Err(Failure::Wrong(format!("{operation}: {status} {body}"))),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Unavailable | ErrorKind::ResourceExhausted => Self::Unknown,
            ErrorKind::NotFound => Self::Gone,
            _ => Self::Wrong(error.to_string()),
        }
    }
}
