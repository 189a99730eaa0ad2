//! What the handlers of one server share.

use std::time::Duration;

use grackle_client::Client;

use crate::metrics::Metrics;
use crate::readiness::Readiness;

pub(crate) struct State {
    pub(crate) client: Client,
    pub(crate) metrics: Metrics,
    pub(crate) readiness: Readiness,
    /// The OpenAPI document, as it is sent.
    pub(crate) openapi: String,
    /// How many semaphores `/metrics` shows.
    pub(crate) metrics_semaphores: usize,
    /// The namespace of the plain semaphores.
    pub(crate) plain_namespace: String,
    /// How long a request's body may take to arrive.
    pub(crate) read_timeout: Duration,
}
