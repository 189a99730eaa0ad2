//! The request to watch a semaphore.

use serde::{Deserialize, Serialize};

/// Asks for the states of a semaphore, as they come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct WatchSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
}
