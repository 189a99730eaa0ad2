//! The pages beside the operations: health, readiness, metrics, the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::extract;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::error::ApiError;
use crate::http::state::State;
use crate::metrics::render_semaphores;

const INDEX: &str = "\
Grackle: distributed weighted semaphores

POST /v1/<Operation>   every operation, as JSON
GET  /v1/WatchSemaphore   the states of a semaphore, as they come
POST /semaphore, /semaphore/down, /semaphore/up   plain semaphores, without leases
GET  /openapi.json     what they are
GET  /healthz          200 while this server lives
GET  /readyz           200 while it reaches its Redis, and warnings about that
GET  /metrics          for Prometheus
";

pub(super) fn router() -> Router<Arc<State>> {
    Router::new()
        .route("/", get(INDEX))
        .route("/healthz", get("ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
}

async fn ready(extract::State(state): extract::State<Arc<State>>) -> Result<String, ApiError> {
    state.readiness.page(&state.client).await.inspect_err(|error| error.log("readyz"))
}

async fn metrics(extract::State(state): extract::State<Arc<State>>) -> impl IntoResponse {
    let loads = state.client.busiest_semaphores(state.metrics_semaphores);
    let text = state.metrics.render() + &render_semaphores(&loads);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

async fn openapi(extract::State(state): extract::State<Arc<State>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], state.openapi.clone())
}
