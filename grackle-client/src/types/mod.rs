//! Requests, answers and records, in the names of the HTTP and gRPC APIs.
//!
//! The same types serve the SDK, the scripts' replies and the server's JSON, so a field has one
//! name everywhere. Timestamps are nanoseconds since the Unix epoch, by Redis' clock.

mod int64;
mod lease;
mod load;
mod namespace;
mod ownerless;
mod page;
mod semaphore;
mod waiter;
mod watch;

pub use lease::{
    CreateSemaphoreLeaseRequest, GetSemaphoreLeaseRequest, Lease, LeaseResponse,
    ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse, RefreshSemaphoreLeaseRequest,
    RevokeSemaphoreLeaseRequest,
};
pub use load::{Convoy, LoadSample, SemaphoreLoad};
pub use namespace::{
    CreateNamespaceRequest, DeleteNamespaceRequest, GetNamespaceRequest, ListNamespacesRequest,
    ListNamespacesResponse, Namespace, NamespaceResponse, UpdateNamespaceRequest,
};
pub use ownerless::{DownSemaphoreRequest, DownSemaphoreResponse, UpSemaphoreRequest};
pub use page::Page;
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
pub use watch::{SemaphoreEvent, WatchSemaphoreRequest};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Free-form labels of a namespace, semaphore, lease or holder; Grackle does not interpret them.
///
/// At most 32 entries, keys of 1–128 bytes, values of at most 256 bytes.
pub type Metadata = BTreeMap<String, String>;

/// The answer of an operation that has nothing to report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}
