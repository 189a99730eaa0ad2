//! Plain semaphores over HTTP: created with a value, downed and upped by anyone.
//!
//! Each is a Grackle semaphore in a namespace of its own, whose downs are holds without an owner: the
//! value is what is not held. Answers are JSON with `name` and `value`, or a line of text, as those
//! who come from the Node-RED package know them (`docs/node-red.md`).

mod input;
mod name;
mod refusal;
mod values;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::header::HeaderMap;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use grackle_client::Error;
use grackle_client::wire::{
    AcquireOutcome, CreateNamespaceRequest, CreateSemaphoreRequest, DeleteSemaphoreRequest,
    DownSemaphoreRequest, GetSemaphoreRequest, Semaphore, UpSemaphoreRequest,
};
use serde::Serialize;

use self::input::Input;
use self::name::Name;
use self::refusal::Refusal;
use self::values::Values;
use crate::app::App;
use crate::watch::KEEP_ALIVE;

/// What `/metrics` and the log call them.
pub(crate) const OPERATIONS: [&str; 6] = [CREATE, DELETE, VALUE, UP, DOWN, WATCH];
const CREATE: &str = "CreateHttpSemaphore";
const DELETE: &str = "DeleteHttpSemaphore";
const VALUE: &str = "GetHttpSemaphoreValue";
const UP: &str = "UpHttpSemaphore";
pub(crate) const DOWN: &str = "DownHttpSemaphore";
const WATCH: &str = "WatchHttpSemaphore";

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/semaphore", post(create))
        // Both are names as well.
        .route("/semaphore/up", post(up).delete(remove))
        .route("/semaphore/down", post(down).delete(remove))
        .route("/semaphore/{name}", delete(remove))
        .route("/semaphore/value/{name}", get(value))
        .route("/semaphore/watch/{name}", get(watch))
}

/// A semaphore, as it is shown here.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    name: String,
    value: i64,
}

impl Shown {
    fn new(name: &Name, semaphore: &Semaphore) -> Self {
        Self { name: name.to_string(), value: semaphore.permits - semaphore.active_holds }
    }
}

async fn create(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, CREATE, async {
        let input = Input::read(request, app.read_timeout).await?;
        let (name, permits) = (input.name()?, input.value()?);
        let request = CreateSemaphoreRequest {
            namespace_name: app.http_semaphores_namespace.clone(),
            semaphore_name: name.inside(),
            description: name.description(),
            permits,
            ..CreateSemaphoreRequest::default()
        };
        let mut made = app.client.create_semaphore(request.clone()).await;
        if let Err(Error::NamespaceNotFound) = made {
            create_namespace(&app).await?;
            made = app.client.create_semaphore(request).await;
        }
        match made {
            Err(Error::SemaphoreExists) => Err(Refusal::exists(&name)),
            made => Ok(Shown::new(&name, &made?.semaphore)),
        }
    })
    .await
}

/// It is made with the first semaphore.
async fn create_namespace(app: &App) -> Result<(), Error> {
    let request = CreateNamespaceRequest {
        name: app.http_semaphores_namespace.clone(),
        description: "Semaphores of /semaphore".to_owned(),
        ..CreateNamespaceRequest::default()
    };
    match app.client.create_namespace(request).await {
        Ok(_) | Err(Error::NamespaceExists) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Answers the value that it had.
async fn remove(State(app): State<Arc<App>>, uri: Uri) -> Response {
    answer(&app, DELETE, async {
        let name = Name::last_of(&uri)?;
        let namespace_name = app.http_semaphores_namespace.clone();
        let request = DeleteSemaphoreRequest { namespace_name, semaphore_name: name.inside() };
        let was = app.client.remove_semaphore(request).await?;
        Ok(Shown::new(&name, &was.ok_or(Error::SemaphoreNotFound)?))
    })
    .await
}

async fn value(State(app): State<Arc<App>>, uri: Uri) -> Response {
    answer(&app, VALUE, async { look(&app, &Name::last_of(&uri)?).await }).await
}

async fn look(app: &App, name: &Name) -> Result<Shown, Refusal> {
    let namespace_name = app.http_semaphores_namespace.clone();
    let request = GetSemaphoreRequest { namespace_name, semaphore_name: name.inside() };
    Ok(Shown::new(name, &app.client.get_semaphore(request).await?.semaphore))
}

async fn up(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, UP, async {
        let name = Input::read(request, app.read_timeout).await?.name()?;
        let namespace_name = app.http_semaphores_namespace.clone();
        let request = UpSemaphoreRequest { namespace_name, semaphore_name: name.inside() };
        Ok(Shown::new(&name, &app.client.up_semaphore(request).await?.semaphore))
    })
    .await
}

/// Not spawned: a caller that hangs up drops this future, and with it the wait in the queue.
async fn down(State(app): State<Arc<App>>, request: Request) -> Response {
    answer(&app, DOWN, async {
        let input = Input::read(request, app.read_timeout).await?;
        let name = input.name()?;
        let request = DownSemaphoreRequest {
            namespace_name: app.http_semaphores_namespace.clone(),
            semaphore_name: name.inside(),
            timeout_seconds: input.timeout_seconds()?,
        };
        let answer = app.client.down_semaphore(request).await?;
        match answer.outcome {
            AcquireOutcome::Acquired => Ok(Shown::new(&name, &answer.semaphore)),
            _ => Err(Refusal::locked()),
        }
    })
    .await
}

async fn watch(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    let call = app.metrics.begin(WATCH);
    let last_seen = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let begun = async { Values::begin(&app, Name::last_of(&uri)?, last_seen).await }.await;
    match begun {
        Ok(values) => {
            call.answered(&());
            Sse::new(values).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
        }
        Err(refusal) => refusal.answer(WATCH, call),
    }
}

async fn answer(
    app: &App,
    operation: &'static str,
    perform: impl Future<Output = Result<Shown, Refusal>>,
) -> Response {
    let call = app.metrics.begin(operation);
    match perform.await {
        Ok(shown) => {
            call.answered(&());
            Json(shown).into_response()
        }
        Err(refusal) => refusal.answer(operation, call),
    }
}
