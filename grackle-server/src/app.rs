//! What every handler shares.

use std::time::Duration;

use grackle_client::Client;

use crate::metrics::Metrics;
use crate::readiness::Readiness;

pub(crate) struct App {
    pub(crate) client: Client,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    /// The OpenAPI document, as it is sent.
    pub(crate) openapi: String,
    /// Semaphores that `/metrics` shows.
    pub(crate) metrics_semaphores: usize,
    /// Where the semaphores of `/semaphore` are.
    pub(crate) http_semaphores_namespace: String,
    /// How long a request's body may take to arrive.
    pub(crate) read_timeout: Duration,
}
