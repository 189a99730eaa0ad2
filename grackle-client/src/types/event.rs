//! What a watch of a semaphore gives.

use crate::wire::Semaphore;

/// What whoever watches a semaphore sees.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SemaphoreEvent {
    /// Its state, when the watch begins and after changes.
    Semaphore(Semaphore),
    /// It was deleted, or its namespace was. The last event.
    Deleted,
}
