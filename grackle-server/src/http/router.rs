//! The router: every path, and the answers to all others.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use crate::error::{ApiError, Code};
use crate::http::state::State;
use crate::http::{operations, plain_semaphores, service_endpoints, watch};
use crate::operation::Operation;

/// All paths of a server.
pub(crate) fn router(state: Arc<State>) -> Router {
    Router::new()
        .merge(operations::router())
        .merge(watch::router())
        .merge(plain_semaphores::router())
        .merge(service_endpoints::router())
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .with_state(state)
}

async fn no_such_path(extract::State(state): extract::State<Arc<State>>, uri: Uri) -> ApiError {
    let path = uri.path();
    let message = format!("no such path: {path}; /openapi.json lists the operations");
    not_routed(&state, Code::NotFound, message)
}

async fn wrong_method(
    extract::State(state): extract::State<Arc<State>>,
    method: Method,
    uri: Uri,
) -> ApiError {
    let message = format!("{method} is not allowed on {}; see the Allow header", uri.path());
    not_routed(&state, Code::MethodNotAllowed, message)
}

/// All are counted under one name, since callers may ask for any path.
fn not_routed(state: &State, code: Code, message: String) -> ApiError {
    state.metrics.begin(Operation::None).failed(code);
    ApiError::new(code, message)
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(panic = text, "a handler panicked");
    ApiError::new(Code::Internal, "internal: a fault in the server, see its log").into_response()
}
