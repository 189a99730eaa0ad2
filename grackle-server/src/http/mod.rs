//! HTTP: every path, from the request to the answer.
//!
//! - `router`: all paths
//! - `state`: what handlers share
//! - `operations`: `POST /v1/<Operation>`; `body` receives a request, `json` reads it
//! - `watch`: `GET /v1/WatchSemaphore`, a stream
//! - `plain_semaphores`: `/semaphore…`
//! - `service_endpoints`: health, readiness, metrics, the OpenAPI document

mod body;
mod json;
mod operations;
mod plain_semaphores;
mod router;
mod service_endpoints;
mod state;
mod watch;

pub(crate) use router::router;
pub(crate) use state::State;
