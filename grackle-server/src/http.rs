//! The router: every path, and the answers where there is none.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::error::{ApiError, Code};
use crate::{http_semaphores, operations, pages, watch};

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(operations::router())
        .merge(watch::router())
        .merge(http_semaphores::router())
        .merge(pages::router())
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .with_state(app)
}

async fn no_such_path(State(app): State<Arc<App>>, uri: Uri) -> ApiError {
    let path = uri.path();
    let message = format!("no such path: {path}; /openapi.json lists the operations");
    refused(&app, Code::NotFound, message)
}

async fn wrong_method(State(app): State<Arc<App>>, method: Method, uri: Uri) -> ApiError {
    let message = format!("{method} is not allowed on {}; see the Allow header", uri.path());
    refused(&app, Code::MethodNotAllowed, message)
}

/// Counted under one name, since anyone may ask for any path.
fn refused(app: &App, code: Code, message: String) -> ApiError {
    app.metrics.begin("none").failed(code);
    ApiError::new(code, message)
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    tracing::error!(panic = text, "a handler panicked");
    ApiError::new(Code::Internal, "internal: a fault in the server, see its log").into_response()
}
