//! Somebody who uses a semaphore.

use grackle_client::wire::{AcquireOutcome, AcquireSemaphoreRequest, ReleaseSemaphoreRequest};
use grackle_client::{Client, Error};

use super::Failure;

const TIMEOUT_SECONDS: i64 = 3_600;

/// A lease, and the semaphore it is for.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) semaphore: String,
    pub(crate) lease_id: String,
}

impl User {
    /// Waits until one permit is free, then holds it.
    pub(crate) async fn acquire(&self) -> Result<(), Failure> {
        let request = AcquireSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: self.semaphore.clone(),
            lease_id: self.lease_id.clone(),
            weight: 1,
            timeout_seconds: TIMEOUT_SECONDS,
            ..Default::default()
        };
        match self.client.acquire_semaphore(request).await?.outcome {
            AcquireOutcome::Acquired => Ok(()),
            other => Err(format!("not acquired within {TIMEOUT_SECONDS} s: {other:?}").into()),
        }
    }

    /// Gives it up, to whoever waits first.
    pub(crate) async fn release(&self) -> Result<(), Error> {
        let request = ReleaseSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: self.semaphore.clone(),
            lease_id: self.lease_id.clone(),
        };
        self.client.release_semaphore(request).await?;
        Ok(())
    }
}
