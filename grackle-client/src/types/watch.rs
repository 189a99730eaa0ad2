use serde::{Deserialize, Serialize};

use super::Semaphore;

/// Asks for the states of a semaphore, as they come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WatchSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
}

/// What whoever watches a semaphore sees.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SemaphoreEvent {
    /// Its state, when the watch begins and after changes.
    Semaphore(Semaphore),
    /// It was deleted, or its namespace was. The last event.
    Deleted,
}
