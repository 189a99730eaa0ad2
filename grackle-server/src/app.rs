//! What every handler shares.

use std::time::Duration;

use grackle_client::Client;

use crate::metrics::Metrics;

pub(crate) struct App {
    pub(crate) client: Client,
    pub(crate) metrics: Metrics,
    /// The OpenAPI document, as it is sent.
    pub(crate) openapi: String,
    /// How long a request's body may take to arrive.
    pub(crate) read_timeout: Duration,
}
