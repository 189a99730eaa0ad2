//! Stub
#![allow(missing_docs, unused)]
use crate::{Config, Error, types::*};
#[derive(Clone)]
pub struct Client {}
impl Client {
    pub async fn connect(redis_url: &str) -> Result<Self, Error> { unimplemented!() }
    pub async fn connect_with(config: Config) -> Result<Self, Error> { unimplemented!() }
    /// One PING: is Redis reachable?
    pub async fn ping(&self) -> Result<(), Error> { unimplemented!() }
    /// Sets every waiter of this node aside and answers their calls with Unavailable; later blocking acquires get Unavailable too.
    pub async fn shutdown(&self) { unimplemented!() }
    pub async fn create_namespace(&self, request: CreateNamespaceRequest) -> Result<NamespaceResponse, Error> { unimplemented!() }
    pub async fn get_namespace(&self, request: GetNamespaceRequest) -> Result<NamespaceResponse, Error> { unimplemented!() }
    pub async fn update_namespace(&self, request: UpdateNamespaceRequest) -> Result<NamespaceResponse, Error> { unimplemented!() }
    pub async fn delete_namespace(&self, request: DeleteNamespaceRequest) -> Result<Empty, Error> { unimplemented!() }
    pub async fn list_namespaces(&self, request: ListNamespacesRequest) -> Result<ListNamespacesResponse, Error> { unimplemented!() }
    pub async fn create_semaphore(&self, request: CreateSemaphoreRequest) -> Result<SemaphoreResponse, Error> { unimplemented!() }
    pub async fn get_semaphore(&self, request: GetSemaphoreRequest) -> Result<SemaphoreResponse, Error> { unimplemented!() }
    pub async fn update_semaphore(&self, request: UpdateSemaphoreRequest) -> Result<SemaphoreResponse, Error> { unimplemented!() }
    pub async fn delete_semaphore(&self, request: DeleteSemaphoreRequest) -> Result<Empty, Error> { unimplemented!() }
    pub async fn list_semaphores(&self, request: ListSemaphoresRequest) -> Result<ListSemaphoresResponse, Error> { unimplemented!() }
    pub async fn acquire_semaphore(&self, request: AcquireSemaphoreRequest) -> Result<AcquireSemaphoreResponse, Error> { unimplemented!() }
    pub async fn release_semaphore(&self, request: ReleaseSemaphoreRequest) -> Result<SemaphoreResponse, Error> { unimplemented!() }
    pub async fn list_semaphore_holders(&self, request: ListSemaphoreHoldersRequest) -> Result<ListSemaphoreHoldersResponse, Error> { unimplemented!() }
    pub async fn create_semaphore_lease(&self, request: CreateSemaphoreLeaseRequest) -> Result<LeaseResponse, Error> { unimplemented!() }
    pub async fn get_semaphore_lease(&self, request: GetSemaphoreLeaseRequest) -> Result<LeaseResponse, Error> { unimplemented!() }
    pub async fn refresh_semaphore_lease(&self, request: RefreshSemaphoreLeaseRequest) -> Result<LeaseResponse, Error> { unimplemented!() }
    pub async fn revoke_semaphore_lease(&self, request: RevokeSemaphoreLeaseRequest) -> Result<Empty, Error> { unimplemented!() }
    pub async fn list_semaphore_leases(&self, request: ListSemaphoreLeasesRequest) -> Result<ListSemaphoreLeasesResponse, Error> { unimplemented!() }
}
