//! How busy a semaphore is, as this client has seen it.

use std::time::Duration;

use crate::wire::Convoy;

/// What a node has seen of a semaphore in the last two minutes, by the answers and messages that
/// reached it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SemaphoreLoad {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// Waiters, as last seen.
    pub waiting_count: i64,
    /// The share of the permits that was held, as last seen; 0 to 1.
    pub occupancy: f64,
    /// The longest wait of the last 20 s: of a caller of this node, so far or until its grant.
    pub wait: Duration,
    /// Permits a second, over the last minute, granted to callers of this node that had waited.
    pub drained_per_second: f64,
    /// Whether the queue is a convoy.
    pub convoy: Option<Convoy>,
    /// The series, the oldest first: 24 of 5 s at most, without those in which nothing was seen.
    pub samples: Vec<LoadSample>,
}

/// Five seconds of a semaphore's load.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LoadSample {
    /// How long ago they began.
    pub ago: Duration,
    /// Waiters, as last seen.
    pub waiting_count: i64,
    /// The share of the permits that was held, as last seen; 0 to 1.
    pub occupancy: f64,
    /// The longest wait.
    pub wait: Duration,
    /// Permits granted to callers that had waited.
    pub drained: i64,
}
