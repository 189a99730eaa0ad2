use grackle_client::wire::{
    Holder, Lease, Namespace, Semaphore, SemaphoreWaiterResponse, Waiter, Waiting,
};

use super::{Micros, Name, Page, Ticket};

/// What an operation replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Namespace(Namespace),
    Semaphore(Semaphore),
    Lease(Lease),
    Outcome(Outcome),
    /// What it was, if it was there.
    Deleted(Option<Semaphore>),
    /// Was a permit taken?
    Taken(bool, Semaphore),
    CallState {
        sweep_in: Micros,
        fates: Vec<Fate>,
    },
    Park(Vec<Fate>),
    Swept {
        sweep_in: Micros,
        waiting: usize,
        received: usize,
    },
    Namespaces(Page<Namespace>),
    Semaphores(Page<Semaphore>),
    Holders(Page<Holder>),
    Waiters(Page<Waiter>),
    Waiter(SemaphoreWaiterResponse),
    Leases(Page<Lease>),
    Refused(Refused),
}

/// What becomes of an acquire, in a reply or a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Acquired {
        token: i64,
        semaphore: Semaphore,
    },
    /// With why not, which is always asked for.
    Unavailable(Semaphore, Box<Waiting>),
    TimedOut(Semaphore, Box<Waiting>),
    Waiting {
        sweep_in: Micros,
    },
    Failed(Refused),
}

/// What is known of a call that its node asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    Waits,
    Lost,
    Granted(Outcome),
}

/// Something that Redis publishes in a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "few are kept, and most are endings")]
pub(crate) enum Said {
    /// To a node: these calls of its have ended so.
    Ended { node: Name, tickets: Vec<Ticket>, how: Outcome },
    /// To all nodes: something is due sooner than they know.
    Sooner { sweep_in: Micros },
}

/// Why not, in the words that a caller reads.
pub(crate) type Refused = &'static str;

pub(crate) mod refused {
    use super::Refused;

    pub(crate) const ALL: [Refused; 16] = [
        NO_NAMESPACE,
        NO_SEMAPHORE,
        NO_LEASE,
        NO_WAITER,
        NAMESPACE_EXISTS,
        SEMAPHORE_EXISTS,
        VERSION,
        TOO_HEAVY,
        HELD,
        MAX_SEMAPHORES,
        MAX_LEASES,
        MAX_HOLDERS,
        MAX_WAITERS,
        MAX_HOLDS,
        MAX_CALLS,
        MAX_PERMITS,
    ];

    pub(crate) const NO_NAMESPACE: Refused = "namespace not found";
    pub(crate) const NO_SEMAPHORE: Refused = "semaphore not found";
    pub(crate) const NO_LEASE: Refused = "lease not found";
    pub(crate) const NO_WAITER: Refused = "waiter not found";
    pub(crate) const NAMESPACE_EXISTS: Refused = "namespace already exists";
    pub(crate) const SEMAPHORE_EXISTS: Refused = "semaphore already exists";
    pub(crate) const VERSION: Refused = "version mismatch";
    pub(crate) const TOO_HEAVY: Refused = "weight exceeds semaphore permits";
    pub(crate) const HELD: Refused = "permits: less than the active holds";
    pub(crate) const MAX_SEMAPHORES: Refused = "limit reached: max_semaphores";
    pub(crate) const MAX_LEASES: Refused = "limit reached: max_leases";
    pub(crate) const MAX_HOLDERS: Refused = "limit reached: max_holders";
    pub(crate) const MAX_WAITERS: Refused = "limit reached: max_waiters";
    pub(crate) const MAX_HOLDS: Refused = "limit reached: max_holds_per_lease";
    pub(crate) const MAX_PERMITS: Refused = "limit reached: permits";
    pub(crate) const MAX_CALLS: Refused = "limit reached: max_calls_per_wait";
}
