//! The pages beside the operations: health, readiness, metrics, the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::App;
use crate::error::ApiError;
use crate::loads;

const INDEX: &str = "\
Grackle: distributed weighted semaphores

POST /v1/<Operation>   every operation, as JSON
GET  /v1/WatchSemaphore   the states of a semaphore, as they come
POST /semaphore, /semaphore/down, /semaphore/up   plain semaphores, without leases
GET  /openapi.json     what they are
GET  /healthz          200 while this server lives
GET  /readyz           200 while it reaches its Redis, and what is the matter with that
GET  /metrics          for Prometheus
";

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(INDEX))
        .route("/healthz", get("ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
}

async fn ready(State(app): State<Arc<App>>) -> Result<String, ApiError> {
    app.readiness.of(&app.client).await.inspect_err(|error| error.log("readyz"))
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let loads = app.client.busiest_semaphores(app.metrics_semaphores);
    let text = app.metrics.render() + &loads::render(&loads);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

async fn openapi(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], app.openapi.clone())
}
