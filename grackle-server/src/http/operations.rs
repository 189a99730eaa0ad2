//! The operations that are a POST of a JSON object.

use std::sync::Arc;

use axum::extract::{self, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use grackle_client::wire::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::http::json;
use crate::http::state::State;
use crate::metrics::Call;
use crate::operation::{Operation, with_operations};

/// An answer that may count for more than its call.
trait Answer: Serialize {
    fn count(&self, _call: &mut Call<'_>) {}
}

impl Answer for AcquireSemaphoreResponse {
    fn count(&self, call: &mut Call<'_>) {
        call.acquire_ended(self);
    }
}

macro_rules! plain_answers {
    ($($answer:ident)*) => { $(impl Answer for $answer {})* };
}
plain_answers! {
    Empty GetSemaphoreResponse LeaseResponse ListNamespacesResponse ListSemaphoreHoldersResponse
    ListSemaphoreLeasesResponse ListSemaphoreWaitersResponse ListSemaphoresResponse NamespaceResponse
    SemaphoreResponse SemaphoreWaiterResponse
}

macro_rules! routes {
    ($($summary:literal $name:ident($request:ident) -> $answer:ident
       = $method:ident $(, $error:ident)*;)*) => {
        /// `POST /v1/<Operation>`.
        pub(super) fn router() -> Router<Arc<State>> {
            Router::new()$(.route(
                concat!("/v1/", stringify!($name)),
                post(async |extract::State(state): extract::State<Arc<State>>, http: Request| {
                    let call = |request: $request| state.client.$method(request);
                    answer::<_, $answer, _>(&state, Operation::$name, http, call).await
                }),
            ))*
        }
    };
}
with_operations!(routes);

/// Not spawned: a caller that hangs up drops this future, and so ends its wait in the queue.
async fn answer<Q, A, F>(
    state: &State,
    operation: Operation,
    http: Request,
    call: impl FnOnce(Q) -> F,
) -> Response
where
    Q: DeserializeOwned,
    A: Answer,
    F: Future<Output = Result<A, grackle_client::Error>>,
{
    let mut counted = state.metrics.begin(operation);
    match perform(state, http, call).await {
        Ok(answer) => {
            answer.count(&mut counted);
            counted.answered();
            Json(answer).into_response()
        }
        Err(error) => {
            error.log(operation.name());
            counted.failed(error.code);
            error.into_response()
        }
    }
}

async fn perform<Q, A, F>(
    state: &State,
    http: Request,
    call: impl FnOnce(Q) -> F,
) -> Result<A, ApiError>
where
    Q: DeserializeOwned,
    F: Future<Output = Result<A, grackle_client::Error>>,
{
    let request = json::read(http, state.read_timeout).await?;
    Ok(call(request).await?)
}
