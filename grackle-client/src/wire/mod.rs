//! Requests, answers and records, with the field names of the HTTP API.
//!
//! The same types serve the SDK, the replies of scripts and the JSON of the server, so a field has one
//! name everywhere. Timestamps are nanoseconds since the Unix epoch, by Redis' clock.

mod acquire;
mod convoy;
mod discipline;
mod empty;
mod holder;
mod int64;
mod lease;
mod metadata;
mod namespace;
mod page;
mod plain_semaphores;
mod semaphore;
mod waiter;
mod watch;

pub use acquire::{
    AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse, ReleaseSemaphoreRequest,
};
pub use convoy::Convoy;
pub use discipline::QueueDiscipline;
pub use empty::Empty;
pub use holder::{Holder, ListSemaphoreHoldersRequest, ListSemaphoreHoldersResponse};
pub use lease::{
    CreateSemaphoreLeaseRequest, GetSemaphoreLeaseRequest, Lease, LeaseResponse,
    ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse, RefreshSemaphoreLeaseRequest,
    RevokeSemaphoreLeaseRequest,
};
pub use metadata::Metadata;
pub use namespace::{
    CreateNamespaceRequest, DeleteNamespaceRequest, GetNamespaceRequest, ListNamespacesRequest,
    ListNamespacesResponse, Namespace, NamespaceResponse, UpdateNamespaceRequest,
};
pub use page::Page;
pub use plain_semaphores::{DownSemaphoreRequest, DownSemaphoreResponse, UpSemaphoreRequest};
pub use semaphore::{
    CreateSemaphoreRequest, DeleteSemaphoreRequest, GetSemaphoreRequest, GetSemaphoreResponse,
    ListSemaphoresRequest, ListSemaphoresResponse, Semaphore, SemaphoreResponse,
    UpdateSemaphoreRequest,
};
pub use waiter::{
    Drained, GetSemaphoreWaiterRequest, ListSemaphoreWaitersRequest, ListSemaphoreWaitersResponse,
    SemaphoreWaiterResponse, Waiter, Waiting,
};
pub use watch::WatchSemaphoreRequest;
