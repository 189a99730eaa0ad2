//! The operations: their names, requests, answers and errors. The one table of them.

use crate::error::Code;

/// Calls a macro with one row for each operation that is a POST of a JSON object:
/// `"summary" Name(Request) -> Answer = client method, errors…;`
///
/// The errors are those beside [`COMMON_ERRORS`].
macro_rules! with_operations {
    ($callback:ident) => {
        $callback! {
            "Creates a namespace."
            CreateNamespace(CreateNamespaceRequest) -> NamespaceResponse
                = create_namespace, AlreadyExists, ResourceExhausted;
            "Returns a namespace."
            GetNamespace(GetNamespaceRequest) -> NamespaceResponse
                = get_namespace, NotFound;
            "Replaces the description and metadata of a namespace, at the version that the caller has seen."
            UpdateNamespace(UpdateNamespaceRequest) -> NamespaceResponse
                = update_namespace, NotFound;
            "Deletes a namespace and everything inside. A missing one is no error."
            DeleteNamespace(DeleteNamespaceRequest) -> Empty
                = delete_namespace;
            "Lists the namespaces in the order of their names."
            ListNamespaces(ListNamespacesRequest) -> ListNamespacesResponse
                = list_namespaces;
            "Creates a semaphore."
            CreateSemaphore(CreateSemaphoreRequest) -> SemaphoreResponse
                = create_semaphore, NotFound, AlreadyExists, ResourceExhausted;
            "Returns a semaphore, and whether this server sees a convoy there. It never counts a holder whose lease has expired."
            GetSemaphore(GetSemaphoreRequest) -> GetSemaphoreResponse
                = get_semaphore, NotFound;
            "Replaces the description, permits and metadata of a semaphore, at the version that the caller has seen. Raised permits admit waiters at once."
            UpdateSemaphore(UpdateSemaphoreRequest) -> SemaphoreResponse
                = update_semaphore, NotFound, ResourceExhausted;
            "Deletes a semaphore, drops its holders and tells its waiters. A missing one is no error."
            DeleteSemaphore(DeleteSemaphoreRequest) -> Empty
                = delete_semaphore, NotFound;
            "Lists the semaphores of a namespace in the order of their names."
            ListSemaphores(ListSemaphoresRequest) -> ListSemaphoresResponse
                = list_semaphores, NotFound;
            "Acquires `weight` permits under a lease, all or none; waits up to `timeout_seconds` in a fair queue. Set the client's own timeout well above it. A lease that acquires again changes its one hold."
            AcquireSemaphore(AcquireSemaphoreRequest) -> AcquireSemaphoreResponse
                = acquire_semaphore, NotFound, ResourceExhausted;
            "Releases a lease's hold and admits the waiters that now fit. If the lease holds nothing there, nothing happens."
            ReleaseSemaphore(ReleaseSemaphoreRequest) -> SemaphoreResponse
                = release_semaphore, NotFound;
            "Lists the holders of a semaphore in the order of `locked_at`."
            ListSemaphoreHolders(ListSemaphoreHoldersRequest) -> ListSemaphoreHoldersResponse
                = list_semaphore_holders, NotFound;
            "Lists the waiters of a semaphore in the order in which they are admitted."
            ListSemaphoreWaiters(ListSemaphoreWaitersRequest) -> ListSemaphoreWaitersResponse
                = list_semaphore_waiters, NotFound;
            "Returns a lease's wait on a semaphore: its place in the queue, and why it waits."
            GetSemaphoreWaiter(GetSemaphoreWaiterRequest) -> SemaphoreWaiterResponse
                = get_semaphore_waiter, NotFound;
            "Creates a lease. What is acquired under it is held exactly as long as the lease lives."
            CreateSemaphoreLease(CreateSemaphoreLeaseRequest) -> LeaseResponse
                = create_semaphore_lease, NotFound, ResourceExhausted;
            "Returns a lease."
            GetSemaphoreLease(GetSemaphoreLeaseRequest) -> LeaseResponse
                = get_semaphore_lease, NotFound;
            "Makes a lease expire `ttl_seconds` from now, sooner or later than before, and with it all that it holds."
            RefreshSemaphoreLease(RefreshSemaphoreLeaseRequest) -> LeaseResponse
                = refresh_semaphore_lease, NotFound;
            "Ends a lease and releases all that it holds."
            RevokeSemaphoreLease(RevokeSemaphoreLeaseRequest) -> Empty
                = revoke_semaphore_lease, NotFound;
            "Lists the leases of a namespace, or of one process, in the order of their creation."
            ListSemaphoreLeases(ListSemaphoreLeasesRequest) -> ListSemaphoreLeasesResponse
                = list_semaphore_leases, NotFound;
        }
    };
}
pub(crate) use with_operations;

macro_rules! define {
    ($($summary:literal $name:ident($request:ident) -> $answer:ident
       = $method:ident $(, $error:ident)*;)*) => {
        /// An operation, for metrics, the log and the OpenAPI document.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Operation {
            $($name,)*
            WatchSemaphore,
            CreateHttpSemaphore,
            DeleteHttpSemaphore,
            GetHttpSemaphoreValue,
            UpHttpSemaphore,
            DownHttpSemaphore,
            WatchHttpSemaphore,
            /// A path or a method that does not exist.
            None,
        }

        impl Operation {
            /// Those that are a POST of a JSON object.
            pub(crate) const POSTS: &[Self] = &[$(Self::$name),*];

            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    Self::WatchSemaphore => "WatchSemaphore",
                    Self::CreateHttpSemaphore => "CreateHttpSemaphore",
                    Self::DeleteHttpSemaphore => "DeleteHttpSemaphore",
                    Self::GetHttpSemaphoreValue => "GetHttpSemaphoreValue",
                    Self::UpHttpSemaphore => "UpHttpSemaphore",
                    Self::DownHttpSemaphore => "DownHttpSemaphore",
                    Self::WatchHttpSemaphore => "WatchHttpSemaphore",
                    Self::None => "none",
                }
            }

            /// The errors of an operation that is a POST, or a watch, beside the common ones.
            pub(crate) fn errors(self) -> &'static [Code] {
                match self {
                    $(Self::$name => &[$(Code::$error),*],)*
                    Self::WatchSemaphore => &[Code::NotFound, Code::ResourceExhausted],
                    _ => &[],
                }
            }
        }
    };
}
with_operations!(define);

impl Operation {
    /// The plain semaphores of `/semaphore`.
    pub(crate) const PLAIN: [Self; 6] = [
        Self::CreateHttpSemaphore,
        Self::DeleteHttpSemaphore,
        Self::GetHttpSemaphoreValue,
        Self::UpHttpSemaphore,
        Self::DownHttpSemaphore,
        Self::WatchHttpSemaphore,
    ];

    /// All that a caller can name.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::POSTS.iter().copied().chain([Self::WatchSemaphore]).chain(Self::PLAIN)
    }

    /// May a call of it wait in a queue?
    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::AcquireSemaphore | Self::DownHttpSemaphore)
    }
}

/// The errors of any operation that is a POST.
pub(crate) const COMMON_ERRORS: [Code; 6] = [
    Code::InvalidArgument,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::Internal,
    Code::Unavailable,
];
