use std::collections::BTreeSet;

use super::{Label, Micros, Name, SLACK, Tag, Ticket};

/// A lease that waits for permits. Its arrival stays with it, whatever place the queue makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wait {
    pub(crate) weight: i64,
    pub(crate) share: i64,
    /// Of the lease: whose flow it is.
    pub(crate) process: Name,
    pub(crate) label: Label,
    pub(crate) arrival: u32,
    /// In a weighted queue, unless it holds already.
    pub(crate) start: Option<Tag>,
    pub(crate) queued_at: Micros,
    /// Each ends by itself; the wait ends with the last of them.
    pub(crate) calls: Vec<Call>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) ticket: Ticket,
    pub(crate) deadline_at: Micros,
    /// Since when it listens, where it does.
    pub(crate) since: Micros,
    /// It keeps the place, but is not there to be granted.
    pub(crate) parked: bool,
}

impl Call {
    fn forgotten_at(&self) -> Micros {
        self.deadline_at + SLACK
    }
}

impl Wait {
    pub(crate) fn finish(&self) -> Tag {
        self.start.unwrap_or_default().plus(self.weight, self.share)
    }

    pub(crate) fn listens(&self) -> bool {
        self.calls.iter().any(|call| !call.parked)
    }

    /// In a weighted queue, and it may be granted.
    pub(crate) fn is_in_flow(&self) -> bool {
        self.start.is_some() && self.listens()
    }

    pub(crate) fn call(&mut self, ticket: Ticket) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.ticket == ticket)
    }

    pub(crate) fn is_over(&self, now: Micros) -> bool {
        self.calls.iter().all(|call| call.deadline_at <= now)
    }

    /// When it is forgotten, should no node end it.
    pub(crate) fn forgotten_at(&self) -> Micros {
        self.calls.iter().map(Call::forgotten_at).max().unwrap_or_default()
    }

    pub(crate) fn forget_over(&mut self, now: Micros) {
        self.calls.retain(|call| call.forgotten_at() > now);
    }

    /// parks such calls; were there any?
    pub(crate) fn pass_over(&mut self, which: impl Fn(Ticket) -> bool) -> bool {
        let these = self.calls.iter_mut().filter(|call| !call.parked && which(call.ticket));
        these.map(|call| call.parked = true).count() > 0
    }

    pub(crate) fn nodes(&self) -> BTreeSet<Name> {
        self.calls.iter().filter(|call| !call.parked).map(|call| call.ticket.node).collect()
    }
}
