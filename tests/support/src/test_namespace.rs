//! A namespace with one semaphore, and short words for what tests do there.

use grackle_client::wire::{
    AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse, CreateNamespaceRequest,
    CreateSemaphoreLeaseRequest, CreateSemaphoreRequest, GetSemaphoreRequest,
    ReleaseSemaphoreRequest, RevokeSemaphoreLeaseRequest, Semaphore,
};
use grackle_client::{Client, Error};
use tokio::task::JoinHandle;

use super::eventually::{SOON, eventually};

/// Longer than any test: such a wait ends by a grant or an error.
pub const LONG: i64 = 120;

pub type Acquired = Result<AcquireSemaphoreResponse, Error>;

/// A namespace, `ns` unless another is named, with the semaphore `s`, as one client sees it.
#[derive(Clone)]
pub struct TestNamespace {
    pub client: Client,
    pub namespace: String,
    semaphore: String,
}

impl TestNamespace {
    pub const NAMESPACE: &'static str = "ns";
    pub const SEMAPHORE: &'static str = "s";

    /// Makes both.
    pub async fn create(client: Client, permits: i64) -> Self {
        Self::create_as(client, Self::NAMESPACE, permits).await
    }

    /// Makes both, the namespace by that name.
    pub async fn create_as(client: Client, namespace: &str, permits: i64) -> Self {
        let name = namespace.to_owned();
        let request = CreateNamespaceRequest { name, ..Default::default() };
        client.create_namespace(request).await.expect("a new namespace");
        let (namespace, semaphore) = (namespace.to_owned(), Self::SEMAPHORE.to_owned());
        let space = Self { client, namespace, semaphore };
        space.semaphore(Self::SEMAPHORE, permits).await;
        space
    }

    /// The same through another client.
    pub fn through(&self, client: Client) -> Self {
        Self { client, ..self.clone() }
    }

    /// The same, with another semaphore of the namespace as the one.
    pub fn on_semaphore(&self, name: &str) -> Self {
        Self { semaphore: name.to_owned(), ..self.clone() }
    }

    /// Of the semaphore.
    pub fn name(&self) -> &str {
        &self.semaphore
    }

    pub async fn semaphore(&self, name: &str, permits: i64) {
        let request = CreateSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: name.to_owned(),
            permits,
            ..Default::default()
        };
        self.client.create_semaphore(request).await.expect("a new semaphore");
    }

    /// A new lease that outlives the test.
    pub async fn lease(&self) -> String {
        self.lease_for(LONG * 10).await
    }

    pub async fn lease_for(&self, ttl_seconds: i64) -> String {
        self.try_lease(ttl_seconds).await.expect("a new lease")
    }

    /// A new lease of that process.
    pub async fn lease_of(&self, process_id: &str, ttl_seconds: i64) -> String {
        self.try_lease_of(process_id, ttl_seconds).await.expect("a new lease")
    }

    /// As [`TestNamespace::lease_for`], where Redis may be away.
    pub async fn try_lease(&self, ttl_seconds: i64) -> Result<String, Error> {
        self.try_lease_of("test", ttl_seconds).await
    }

    async fn try_lease_of(&self, process_id: &str, ttl_seconds: i64) -> Result<String, Error> {
        let request = CreateSemaphoreLeaseRequest {
            namespace_name: self.namespace.clone(),
            process_id: process_id.to_owned(),
            ttl_seconds,
            ..Default::default()
        };
        let made = self.client.create_semaphore_lease(request).await;
        made.map(|answer| answer.lease.lease_id)
    }

    pub async fn acquire(&self, lease_id: &str, weight: i64, timeout: i64) -> Acquired {
        self.acquire_on(&self.semaphore, lease_id, weight, timeout).await
    }

    pub async fn acquire_on(
        &self,
        semaphore: &str,
        lease_id: &str,
        weight: i64,
        timeout_seconds: i64,
    ) -> Acquired {
        let request = AcquireSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: semaphore.to_owned(),
            lease_id: lease_id.to_owned(),
            weight,
            timeout_seconds,
            ..Default::default()
        };
        self.client.acquire_semaphore(request).await
    }

    /// Acquires what is free.
    pub async fn take(&self, lease_id: &str, weight: i64) {
        let answer = self.acquire(lease_id, weight, 0).await.expect("an answer");
        assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    }

    /// Starts an acquire that has to wait; it stands in the queue when this returns.
    pub async fn wait(&self, lease_id: &str, weight: i64) -> JoinHandle<Acquired> {
        let before = self.state().await.waiting_count;
        let (space, lease) = (self.clone(), lease_id.to_owned());
        let waiter = tokio::spawn(async move { space.acquire(&lease, weight, LONG).await });
        self.until_waiting(before + 1).await;
        waiter
    }

    /// Returns when so many wait.
    pub async fn until_waiting(&self, count: i64) {
        let what = format!("{count} wait");
        eventually(&what, SOON, async || (self.state().await.waiting_count == count).then_some(()))
            .await;
    }

    pub async fn release(&self, lease_id: &str) -> Semaphore {
        self.try_release(lease_id).await.expect("released")
    }

    /// As [`TestNamespace::release`], where Redis may be away.
    pub async fn try_release(&self, lease_id: &str) -> Result<Semaphore, Error> {
        let request = ReleaseSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: self.semaphore.clone(),
            lease_id: lease_id.to_owned(),
        };
        self.client.release_semaphore(request).await.map(|answer| answer.semaphore)
    }

    /// Ends a lease.
    pub async fn revoke(&self, lease_id: &str) {
        let (namespace_name, lease_id) = (self.namespace.clone(), lease_id.to_owned());
        let request = RevokeSemaphoreLeaseRequest { namespace_name, lease_id };
        self.client.revoke_semaphore_lease(request).await.expect("revoked");
    }

    pub async fn state(&self) -> Semaphore {
        self.state_of(&self.semaphore).await
    }

    pub async fn state_of(&self, semaphore: &str) -> Semaphore {
        let request = GetSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: semaphore.to_owned(),
        };
        self.client.get_semaphore(request).await.expect("the semaphore").semaphore
    }
}

/// The token of a waiter that was granted.
pub async fn granted(waiter: JoinHandle<Acquired>) -> i64 {
    let answer = tokio::time::timeout(SOON, waiter).await.expect("an answer in time");
    let answer = answer.expect("no panic").expect("no error");
    assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    answer.fencing_token
}
