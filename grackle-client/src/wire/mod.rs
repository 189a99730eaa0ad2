//! Requests, answers and records, in the names of the HTTP and gRPC APIs.
//!
//! The same types serve the SDK, the scripts' replies and the server's JSON, so a field has one
//! name everywhere. Timestamps are nanoseconds since the Unix epoch, by Redis' clock.

mod convoy;
mod int64;
mod lease;
mod namespace;
mod page;
mod plain;
mod semaphore;
mod waiter;
mod watch;

pub use convoy::Convoy;
pub use lease::{
    CreateSemaphoreLeaseRequest, GetSemaphoreLeaseRequest, Lease, LeaseResponse,
    ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse, RefreshSemaphoreLeaseRequest,
    RevokeSemaphoreLeaseRequest,
};
pub use namespace::{
    CreateNamespaceRequest, DeleteNamespaceRequest, GetNamespaceRequest, ListNamespacesRequest,
    ListNamespacesResponse, Namespace, NamespaceResponse, UpdateNamespaceRequest,
};
pub use page::Page;
pub use plain::{DownSemaphoreRequest, DownSemaphoreResponse, UpSemaphoreRequest};
pub use semaphore::{
    AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse, CreateSemaphoreRequest,
    DeleteSemaphoreRequest, GetSemaphoreRequest, GetSemaphoreResponse, Holder,
    ListSemaphoreHoldersRequest, ListSemaphoreHoldersResponse, ListSemaphoresRequest,
    ListSemaphoresResponse, QueueDiscipline, ReleaseSemaphoreRequest, Semaphore, SemaphoreResponse,
    UpdateSemaphoreRequest,
};
pub use waiter::{
    Drained, GetSemaphoreWaiterRequest, ListSemaphoreWaitersRequest, ListSemaphoreWaitersResponse,
    SemaphoreWaiterResponse, Waiter, Waiting,
};
pub use watch::WatchSemaphoreRequest;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Free-form labels of a namespace, semaphore, lease or holder; Grackle does not interpret them.
///
/// At most 32 entries, keys of 1–128 bytes, values of at most 256 bytes.
pub type Metadata = BTreeMap<String, String>;

/// The answer of an operation that has nothing to report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}
