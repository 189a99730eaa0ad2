//! What callers did and what they were told, by one clock: that of this process.

use std::time::{Duration, Instant, SystemTime};

/// What one caller went through, or all of them.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) acquires: Vec<Acquire>,
    pub(crate) holds: Vec<Hold>,
    /// What nobody should be told.
    pub(crate) wrong: Vec<String>,
}

/// One acquire.
#[derive(Debug, Clone)]
pub(crate) struct Acquire {
    pub(crate) node: usize,
    pub(crate) semaphore: usize,
    pub(crate) lease: String,
    pub(crate) timeout: Duration,
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    pub(crate) end: End,
    /// The lease holds there already, by its caller's knowledge.
    pub(crate) again: bool,
    /// It repeats one of which it is not known what became: its place, or even its hold, may be
    /// older than the call.
    pub(crate) repeated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Acquired {
        token: i64,
        at: SystemTime,
    },
    Unavailable,
    TimedOut,
    /// The lease is gone.
    Gone,
    /// The caller waited no longer.
    Dropped,
    Unknown,
}

impl Acquire {
    /// The token of the grant, if there was one.
    pub(crate) fn token(&self) -> Option<i64> {
        match self.end {
            End::Acquired { token, .. } => Some(token),
            _ => None,
        }
    }

    /// A grant that began a hold, and that is all its caller knows of.
    pub(crate) fn new_hold(&self) -> Option<i64> {
        self.token().filter(|_| !self.again && !self.repeated)
    }
}

/// A time through which a caller held for certain: it had been told so, and had not yet begun to
/// give it back, nor could the lease have ended.
#[derive(Debug, Clone)]
pub(crate) struct Hold {
    pub(crate) semaphore: usize,
    pub(crate) lease: String,
    pub(crate) token: i64,
    pub(crate) weight: i64,
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

#[expect(clippy::disallowed_methods, reason = "compared with Redis' own, on one machine")]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}

impl History {
    pub(crate) fn add(&mut self, other: Self) {
        self.acquires.extend(other.acquires);
        self.holds.extend(other.holds);
        self.wrong.extend(other.wrong);
    }
}
