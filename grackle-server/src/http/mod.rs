//! HTTP: every path, from the request to the answer.
//!
//! - `router`: all paths
//! - `state`: what handlers share
//! - `operations`: `POST /v1/<Operation>`; `body` receives a request, `json` reads it
//! - `watch`: `GET /v1/WatchSemaphore`, a stream
//! - `plain_semaphores`: `/semaphore…`
//! - `pages`: health, readiness, metrics, the OpenAPI document

mod body;
mod json;
mod operations;
mod pages;
mod plain_semaphores;
mod router;
mod state;
mod watch;

pub(crate) use router::router;
pub(crate) use state::State;
