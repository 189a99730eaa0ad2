use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use super::{Micros, Name, Outcome, Said, Ticket, Wait};

/// What an operation finds around the namespace that it changes, and what it says there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) now: Micros,
    /// The nodes that Redis counts as subscribed.
    pub(crate) listening: BTreeSet<Name>,
    pub(crate) limits: Limits,
    /// Calls that learn of a grant by the reply, whether their node is subscribed or not.
    pub(crate) asking: BTreeSet<Ticket>,
    pub(crate) said: Vec<Said>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    pub(crate) semaphores: usize,
    pub(crate) leases: usize,
    pub(crate) holders: usize,
    pub(crate) waiters: usize,
    pub(crate) holds_per_lease: usize,
}

/// Between operations nobody asks, and what was said is gone.
impl Hash for Around {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.now, &self.listening, self.limits).hash(hasher);
    }
}

impl Around {
    pub(crate) fn is_unsubscribed(&self, ticket: Ticket) -> bool {
        !self.listening.contains(ticket.node) && !self.asking.contains(&ticket)
    }

    /// One message to each node that listens for the wait; `asking` learns it by its reply.
    pub(crate) fn tell(&mut self, wait: &Wait, asking: Option<Ticket>, how: &Outcome) {
        let listening = wait.calls.iter().filter(|call| !call.parked).map(|call| call.ticket);
        let tickets: Vec<_> = listening.filter(|ticket| Some(*ticket) != asking).collect();
        for node in tickets.iter().map(|ticket| ticket.node).collect::<BTreeSet<_>>() {
            let tickets = tickets.iter().copied().filter(|ticket| ticket.node == node).collect();
            self.said.push(Said::Ended { node, tickets, how: how.clone() });
        }
    }
}
