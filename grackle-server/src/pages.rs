//! The pages beside the operations: health, readiness, metrics, the OpenAPI document.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::App;
use crate::error::{ApiError, Code};

/// A probe that waits longer would pile up on a Redis that hangs.
const READY_WITHIN: Duration = Duration::from_secs(1);

const INDEX: &str = "\
Grackle: distributed weighted semaphores

POST /v1/<Operation>   every operation, as JSON
GET  /openapi.json     what they are
GET  /healthz          200 while this server lives
GET  /readyz           200 while it reaches its Redis
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

async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, ApiError> {
    let ping = tokio::time::timeout(READY_WITHIN, app.client.ping());
    let pong = match ping.await {
        Ok(pong) => pong.map_err(ApiError::from),
        Err(_) => Err(silent()),
    };
    pong.inspect_err(|error| error.log("readyz")).map(|()| "ready\n")
}

fn silent() -> ApiError {
    let message = format!("unavailable: Redis did not answer PING within {READY_WITHIN:?}");
    ApiError::new(Code::Unavailable, message)
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render())
}

async fn openapi(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], app.openapi.clone())
}
