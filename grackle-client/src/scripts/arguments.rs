//! What the scripts are asked for.

use std::time::Duration;

use crate::wire::{Metadata, QueueDiscipline};

/// A call that waits: whose, where, and which.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The lease that is to hold.
    pub lease_id: String,
    /// The semaphore's name.
    pub semaphore: String,
    /// `<node>:<number>`.
    pub ticket: String,
}

/// What an acquire asks for.
#[derive(Debug, Clone, Copy)]
pub struct AcquireArguments<'a> {
    /// Permits.
    pub weight: i64,
    /// Of them, for the process, beside others that wait.
    pub share: i64,
    /// Shown with the holder.
    pub metadata: &'a Metadata,
    /// How long to wait; zero answers at once.
    pub timeout: Duration,
    /// Does the node hear its channel?
    pub listening: bool,
    /// Is an answer at once to say why it is not granted?
    pub explain: bool,
}

/// What a semaphore gives out, and to whom first.
#[derive(Debug, Clone, Copy)]
pub struct SemaphoreRules {
    pub permits: i64,
    /// Unspecified: the default, or as it is.
    pub discipline: QueueDiscipline,
    /// None: the default, or as it is; 0 for no bound.
    pub max_waiters: Option<i64>,
}

impl From<i64> for SemaphoreRules {
    fn from(permits: i64) -> Self {
        Self { permits, discipline: QueueDiscipline::Unspecified, max_waiters: None }
    }
}
