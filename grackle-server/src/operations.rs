//! The table of operations: a row is a route, a method of the client and a path of the OpenAPI
//! document.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use grackle_client::wire::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::{ApiError, Code};
use crate::json;

/// What the document says of an operation.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) request: &'static str,
    pub(crate) answer: &'static str,
    /// Beside those that every operation may answer.
    pub(crate) errors: &'static [Code],
}

macro_rules! operations {
    ($(#[doc = $about:literal] $name:ident($request:ident) -> $answer:ident
       = $method:ident $(, $error:ident)*;)*) => {
        /// All operations.
        pub(crate) const OPERATIONS: &[Operation] = &[$(Operation {
            name: stringify!($name),
            about: $about,
            request: stringify!($request),
            answer: stringify!($answer),
            errors: &[$(Code::$error),*],
        }),*];

        /// `POST /v1/<Operation>`.
        pub(crate) fn router() -> Router<Arc<App>> {
            Router::new()$(.route(
                concat!("/v1/", stringify!($name)),
                post(async |State(app): State<Arc<App>>, http: Request| {
                    let call = |request: $request| app.client.$method(request);
                    answer(&app, stringify!($name), http, call).await
                }),
            ))*
        }

        /// Each request and answer as JSON, to compare with what the document says.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<(&'static str, serde_json::Value)> {
            let json = |value: Result<_, serde_json::Error>| value.unwrap();
            vec![$(
                (stringify!($request), json(serde_json::to_value(<$request>::default()))),
                (stringify!($answer), json(serde_json::to_value(<$answer>::default()))),
            )*]
        }
    };
}

operations! {
    #[doc = "Makes a namespace."]
    CreateNamespace(CreateNamespaceRequest) -> NamespaceResponse
        = create_namespace, AlreadyExists, ResourceExhausted;
    #[doc = "Reads a namespace."]
    GetNamespace(GetNamespaceRequest) -> NamespaceResponse
        = get_namespace, NotFound;
    #[doc = "Replaces a namespace's description and metadata, whole, at the version that the caller has seen."]
    UpdateNamespace(UpdateNamespaceRequest) -> NamespaceResponse
        = update_namespace, NotFound;
    #[doc = "Removes a namespace and everything inside. A missing one is no error."]
    DeleteNamespace(DeleteNamespaceRequest) -> Empty
        = delete_namespace;
    #[doc = "Lists the namespaces in name order."]
    ListNamespaces(ListNamespacesRequest) -> ListNamespacesResponse
        = list_namespaces;
    #[doc = "Makes a semaphore."]
    CreateSemaphore(CreateSemaphoreRequest) -> SemaphoreResponse
        = create_semaphore, NotFound, AlreadyExists, ResourceExhausted;
    #[doc = "Reads a semaphore, and whether this server sees a convoy there; a holder whose lease has expired is never counted."]
    GetSemaphore(GetSemaphoreRequest) -> GetSemaphoreResponse
        = get_semaphore, NotFound;
    #[doc = "Replaces a semaphore's description, permits and metadata, whole, at the version that the caller has seen. Raising the permits admits waiters at once."]
    UpdateSemaphore(UpdateSemaphoreRequest) -> SemaphoreResponse
        = update_semaphore, NotFound;
    #[doc = "Removes a semaphore; holders are dropped and waiters told. A missing one is no error."]
    DeleteSemaphore(DeleteSemaphoreRequest) -> Empty
        = delete_semaphore, NotFound;
    #[doc = "Lists a namespace's semaphores in name order."]
    ListSemaphores(ListSemaphoresRequest) -> ListSemaphoresResponse
        = list_semaphores, NotFound;
    #[doc = "Acquires `weight` permits under a lease, all or none, waiting up to `timeout_seconds` in a fair queue. Set the client's own timeout well above it. The same lease acquiring again changes its one hold."]
    AcquireSemaphore(AcquireSemaphoreRequest) -> AcquireSemaphoreResponse
        = acquire_semaphore, NotFound, ResourceExhausted;
    #[doc = "Ends a lease's hold and admits whoever now fits. Where nothing is held, nothing happens."]
    ReleaseSemaphore(ReleaseSemaphoreRequest) -> SemaphoreResponse
        = release_semaphore, NotFound;
    #[doc = "Lists who holds a semaphore, by `locked_at`."]
    ListSemaphoreHolders(ListSemaphoreHoldersRequest) -> ListSemaphoreHoldersResponse
        = list_semaphore_holders, NotFound;
    #[doc = "Lists who waits for a semaphore, in the order in which they are admitted."]
    ListSemaphoreWaiters(ListSemaphoreWaitersRequest) -> ListSemaphoreWaitersResponse
        = list_semaphore_waiters, NotFound;
    #[doc = "Says of a lease that waits for a semaphore where it stands, and why it waits."]
    GetSemaphoreWaiter(GetSemaphoreWaiterRequest) -> SemaphoreWaiterResponse
        = get_semaphore_waiter, NotFound;
    #[doc = "Makes a lease; what is acquired under it lives exactly as long."]
    CreateSemaphoreLease(CreateSemaphoreLeaseRequest) -> LeaseResponse
        = create_semaphore_lease, NotFound, ResourceExhausted;
    #[doc = "Reads a lease."]
    GetSemaphoreLease(GetSemaphoreLeaseRequest) -> LeaseResponse
        = get_semaphore_lease, NotFound;
    #[doc = "Sets a lease's end anew, with that of every hold it owns; it may also come sooner."]
    RefreshSemaphoreLease(RefreshSemaphoreLeaseRequest) -> LeaseResponse
        = refresh_semaphore_lease, NotFound;
    #[doc = "Ends a lease, releasing all that it holds at once."]
    RevokeSemaphoreLease(RevokeSemaphoreLeaseRequest) -> Empty
        = revoke_semaphore_lease, NotFound;
    #[doc = "Lists a namespace's leases by creation, or those of one process."]
    ListSemaphoreLeases(ListSemaphoreLeasesRequest) -> ListSemaphoreLeasesResponse
        = list_semaphore_leases, NotFound;
}

/// Not spawned: a caller that hangs up drops this future, and with it the wait in the queue.
async fn answer<Q, A, F>(
    app: &App,
    operation: &'static str,
    http: Request,
    call: impl FnOnce(Q) -> F,
) -> Response
where
    Q: DeserializeOwned,
    A: Serialize + 'static,
    F: Future<Output = Result<A, grackle_client::Error>>,
{
    let counted = app.metrics.begin(operation);
    match perform(app, http, call).await {
        Ok(answer) => {
            counted.answered(&answer);
            Json(answer).into_response()
        }
        Err(error) => {
            error.log(operation);
            counted.failed(error.code);
            error.into_response()
        }
    }
}

async fn perform<Q, A, F>(
    app: &App,
    http: Request,
    call: impl FnOnce(Q) -> F,
) -> Result<A, ApiError>
where
    Q: DeserializeOwned,
    F: Future<Output = Result<A, grackle_client::Error>>,
{
    let request = json::read(http, app.read_timeout).await?;
    Ok(call(request).await?)
}
