//! How a case's requests reach Grackle.

use std::time::Duration;

use serde_json::Value;

use crate::case::Request;

/// What came back, whatever the transport, in the shapes of HTTP and JSON.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code, or `"closed"` where the connection ended before an answer.
    pub(crate) status: Value,
    /// JSON; a text as it stands; null where there is none.
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

/// A way to Grackle.
pub(crate) trait Transport: Send + Sync + 'static {
    /// Sends a request, its names filled in; gives status and body. `Err` where it can't be sent.
    fn send(&self, request: Request)
    -> impl Future<Output = Result<(Value, Value), String>> + Send;
}
