//! The paths of plain semaphores.

use std::sync::Arc;

use axum::extract::{self, Request};
use axum::http::Uri;
use axum::http::header::HeaderMap;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use grackle_client::Error;
use grackle_client::wire::{
    AcquireOutcome, CreateNamespaceRequest, CreateSemaphoreRequest, DeleteSemaphoreRequest,
    DownSemaphoreRequest, GetSemaphoreRequest, UpSemaphoreRequest,
};

use super::body::PlainBody;
use super::error::PlainError;
use super::name::Name;
use super::value::NamedValue;
use super::value_stream::ValueStream;
use crate::http::state::State;
use crate::http::watch::KEEP_ALIVE;
use crate::operation::Operation;

pub(in crate::http) fn router() -> Router<Arc<State>> {
    Router::new()
        .route("/semaphore", post(create))
        // Both can be the names of semaphores too.
        .route("/semaphore/up", post(up).delete(remove))
        .route("/semaphore/down", post(down).delete(remove))
        .route("/semaphore/{name}", delete(remove))
        .route("/semaphore/value/{name}", get(value))
        .route("/semaphore/watch/{name}", get(watch))
}

async fn create(extract::State(state): extract::State<Arc<State>>, request: Request) -> Response {
    answer(&state, Operation::CreateHttpSemaphore, async {
        let body = PlainBody::read(request, state.read_timeout).await?;
        let (name, permits) = (body.name()?, body.value()?);
        let request = CreateSemaphoreRequest {
            namespace_name: state.plain_namespace.clone(),
            semaphore_name: name.semaphore_name(),
            description: name.description(),
            permits,
            ..CreateSemaphoreRequest::default()
        };
        let mut made = state.client.create_semaphore(request.clone()).await;
        if let Err(Error::NamespaceNotFound) = made {
            create_namespace(&state).await?;
            made = state.client.create_semaphore(request).await;
        }
        match made {
            Err(Error::SemaphoreExists) => Err(PlainError::exists(name.value_path())),
            made => Ok(NamedValue::new(&name, &made?.semaphore)),
        }
    })
    .await
}

/// The namespace is created with the first semaphore.
async fn create_namespace(state: &State) -> Result<(), Error> {
    let request = CreateNamespaceRequest {
        name: state.plain_namespace.clone(),
        description: "Semaphores of /semaphore".to_owned(),
        ..CreateNamespaceRequest::default()
    };
    match state.client.create_namespace(request).await {
        Ok(_) | Err(Error::NamespaceExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Answers with the last value.
async fn remove(extract::State(state): extract::State<Arc<State>>, uri: Uri) -> Response {
    answer(&state, Operation::DeleteHttpSemaphore, async {
        let name = Name::last_of(&uri)?;
        let namespace_name = state.plain_namespace.clone();
        let request =
            DeleteSemaphoreRequest { namespace_name, semaphore_name: name.semaphore_name() };
        let was = state.client.remove_semaphore(request).await?;
        Ok(NamedValue::new(&name, &was.ok_or(Error::SemaphoreNotFound)?))
    })
    .await
}

async fn value(extract::State(state): extract::State<Arc<State>>, uri: Uri) -> Response {
    answer(&state, Operation::GetHttpSemaphoreValue, async {
        current(&state, &Name::last_of(&uri)?).await
    })
    .await
}

async fn current(state: &State, name: &Name) -> Result<NamedValue, PlainError> {
    let namespace_name = state.plain_namespace.clone();
    let request = GetSemaphoreRequest { namespace_name, semaphore_name: name.semaphore_name() };
    Ok(NamedValue::new(name, &state.client.get_semaphore(request).await?.semaphore))
}

async fn up(extract::State(state): extract::State<Arc<State>>, request: Request) -> Response {
    answer(&state, Operation::UpHttpSemaphore, async {
        let name = PlainBody::read(request, state.read_timeout).await?.name()?;
        let namespace_name = state.plain_namespace.clone();
        let request = UpSemaphoreRequest { namespace_name, semaphore_name: name.semaphore_name() };
        Ok(NamedValue::new(&name, &state.client.up_semaphore(request).await?.semaphore))
    })
    .await
}

/// Not spawned: a caller that hangs up drops this future, and so ends its wait in the queue.
async fn down(extract::State(state): extract::State<Arc<State>>, request: Request) -> Response {
    answer(&state, Operation::DownHttpSemaphore, async {
        let body = PlainBody::read(request, state.read_timeout).await?;
        let name = body.name()?;
        let request = DownSemaphoreRequest {
            namespace_name: state.plain_namespace.clone(),
            semaphore_name: name.semaphore_name(),
            timeout_seconds: body.timeout_seconds()?,
        };
        let answer = state.client.down_semaphore(request).await?;
        match answer.outcome {
            AcquireOutcome::Acquired => Ok(NamedValue::new(&name, &answer.semaphore)),
            _ => Err(PlainError::locked()),
        }
    })
    .await
}

async fn watch(
    extract::State(state): extract::State<Arc<State>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let call = state.metrics.begin(Operation::WatchHttpSemaphore);
    let last_seen = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let begun = async { ValueStream::begin(&state, Name::last_of(&uri)?, last_seen).await }.await;
    match begun {
        Ok(values) => {
            call.answered();
            Sse::new(values).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
        }
        Err(error) => error.answer(Operation::WatchHttpSemaphore, call),
    }
}

async fn answer(
    state: &State,
    operation: Operation,
    perform: impl Future<Output = Result<NamedValue, PlainError>>,
) -> Response {
    let call = state.metrics.begin(operation);
    match perform.await {
        Ok(shown) => {
            call.answered();
            Json(shown).into_response()
        }
        Err(error) => error.answer(operation, call),
    }
}
