//! The arguments of scripts.

use std::time::Duration;

use super::runner::Invocation;
use crate::pagination::{Edge, PageStart};
use crate::wire::{Metadata, QueueDiscipline};

/// A call of a lease on a semaphore.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The lease that is to own the hold.
    pub lease_id: String,
    /// The semaphore's name.
    pub semaphore: String,
    /// `<node>:<number>`.
    pub ticket: String,
}

/// What an acquire asks for.
#[derive(Debug, Clone, Copy)]
pub struct AcquireArguments<'a> {
    /// Permits wanted.
    pub weight: i64,
    /// What the process gets beside others that wait, at least 1.
    pub share: i64,
    /// Shown with the holder.
    pub metadata: &'a Metadata,
    /// How long to wait; zero answers at once.
    pub timeout: Duration,
    /// Is the node subscribed to its channel?
    pub listening: bool,
    /// Is an answer that it is not granted to say why?
    pub explain: bool,
}

/// The permits of a semaphore, and the rules of its queue.
#[derive(Debug, Clone, Copy)]
pub struct SemaphoreRules {
    pub permits: i64,
    /// Unspecified: the default on create, unchanged on update.
    pub discipline: QueueDiscipline,
    /// None: the default on create, unchanged on update; 0: no bound of its own.
    pub max_waiters: Option<i64>,
}

impl From<i64> for SemaphoreRules {
    fn from(permits: i64) -> Self {
        Self { permits, discipline: QueueDiscipline::Unspecified, max_waiters: None }
    }
}

impl Invocation<'_> {
    /// Adds the arguments of a page.
    pub(super) fn page(&mut self, from: &PageStart, limit: i64) -> &mut Self {
        match from {
            PageStart::First => self.arg("").arg("").arg(""),
            PageStart::After(Edge(score, member)) => self.arg("after").arg(score).arg(member),
            PageStart::Before(Edge(score, member)) => self.arg("before").arg(score).arg(member),
        };
        self.arg(limit)
    }
}

/// A discipline as the scripts write it.
pub(super) fn word(discipline: QueueDiscipline) -> Option<&'static str> {
    match discipline {
        QueueDiscipline::Unspecified => None,
        QueueDiscipline::Fifo => Some("fifo"),
        QueueDiscipline::Lifo => Some("lifo"),
        QueueDiscipline::Weighted => Some("weighted"),
    }
}

pub(super) fn json(metadata: &Metadata) -> String {
    if metadata.is_empty() {
        return String::new();
    }
    // A map of strings to strings always has a JSON form.
    serde_json::to_string(metadata).unwrap_or_default()
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
