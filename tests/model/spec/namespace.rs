use std::collections::{BTreeMap, BTreeSet};

use super::{
    ALIVE_FOR, Around, Label, Lease, Micros, Name, Refused, Semaphore, Ticket, Wait, WaitingCall,
    refused,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Namespace {
    pub(crate) request: Name,
    pub(crate) label: Label,
    pub(crate) version: i64,
    pub(crate) created_at: Micros,
    pub(crate) updated_at: Micros,
    pub(crate) semaphores: BTreeMap<Name, Semaphore>,
    pub(crate) leases: BTreeMap<Name, Lease>,
    /// Until when the nodes through which calls wait count as alive.
    pub(crate) marks: BTreeMap<Name, Micros>,
}

/// A call to be parked, or a wait to be forgotten.
struct Due {
    semaphore: Name,
    lease: Name,
    ticket: Option<Ticket>,
}

impl Namespace {
    pub(crate) fn new(request: Name, label: Label, now: Micros) -> Self {
        Self {
            request,
            label,
            version: 1,
            created_at: now,
            updated_at: now,
            semaphores: BTreeMap::new(),
            leases: BTreeMap::new(),
            marks: BTreeMap::new(),
        }
    }

    pub(crate) fn lease(&self, lease: Name) -> Result<&Lease, Refused> {
        self.leases.get(lease).ok_or(refused::NO_LEASE)
    }

    pub(crate) fn semaphore(&mut self, name: Name) -> Result<&mut Semaphore, Refused> {
        self.semaphores.get_mut(name).ok_or(refused::NO_SEMAPHORE)
    }

    pub(crate) fn admit(&mut self, name: Name, around: &mut Around) {
        if let Some(semaphore) = self.semaphores.get_mut(name) {
            semaphore.admit(&self.leases, around);
        }
        self.forget_marks();
    }

    /// How much a lease holds and waits for, of what a limit counts.
    pub(crate) fn holds_and_waits(&self, lease: Name) -> usize {
        let of = |semaphore: &Semaphore| {
            usize::from(semaphore.holds.contains_key(lease))
                + usize::from(semaphore.waits.contains_key(lease))
        };
        self.semaphores.values().map(of).sum()
    }

    pub(crate) fn a_lease_is_due(&self, now: Micros) -> bool {
        self.leases.values().any(|lease| !lease.is_alive(now))
    }

    /// Whatever is due: leases end, nodes without a sign of life are passed over, waits that
    /// nobody ended are forgotten. What that frees is handed on.
    pub(crate) fn sweep(&mut self, around: &mut Around) {
        let now = around.now;
        let ended = self.leases.iter().filter(|(_, lease)| !lease.is_alive(now));
        let ended: Vec<_> = ended.map(|(lease, _)| *lease).collect();
        let mut touched = BTreeSet::new();
        for lease in ended {
            touched.append(&mut self.end_lease(lease, around));
        }
        for (_, what) in self.due(now) {
            let semaphore = self.semaphores.get_mut(what.semaphore).expect("it has the wait");
            match what.ticket.and_then(|ticket| semaphore.waits.get_mut(what.lease)?.call(ticket)) {
                Some(call) => call.parked = true,
                None => drop(semaphore.waits.remove(what.lease)),
            }
            semaphore.keep_flows();
            touched.insert(what.semaphore);
        }
        self.semaphores.values_mut().for_each(|semaphore| semaphore.remembered.forget(now));
        touched.into_iter().for_each(|name| self.admit(name, around));
    }

    /// What is due of waits, in the order in which it is done: calls through silent nodes are set
    /// parked one by one, waits that nobody ended are forgotten.
    fn due(&self, now: Micros) -> Vec<([(Micros, String); 2], Due)> {
        let mut due = Vec::new();
        for semaphore in self.semaphores.values() {
            let name = semaphore.name;
            for (lease, wait) in &semaphore.waits {
                if wait.forgotten_at() <= now {
                    let what = Due { semaphore: name, lease, ticket: None };
                    let entry = (wait.forgotten_at(), format!("wait {lease} {name}"));
                    due.push(([entry, (0, String::new())], what));
                }
                for call in wait.calls.iter().filter(|call| !call.parked) {
                    let (node, ticket) = (call.ticket.node, call.ticket);
                    if let Some(until) = self.marks.get(node).filter(|until| **until <= now) {
                        let entry = format!("{node}:{} {lease} {name}", ticket.number);
                        let what = Due { semaphore: name, lease, ticket: Some(ticket) };
                        due.push(([(*until, format!("node {node}")), (call.since, entry)], what));
                    }
                }
            }
        }
        due.sort_by(|one, other| one.0.cmp(&other.0));
        due
    }

    /// Ends a lease with all its holds and waits; returns where there were any.
    pub(crate) fn end_lease(&mut self, lease: Name, around: &mut Around) -> BTreeSet<Name> {
        self.leases.remove(lease);
        let mut touched = BTreeSet::new();
        for (name, semaphore) in &mut self.semaphores {
            let held = semaphore.holds.remove(lease).is_some();
            if held || semaphore.waits.contains_key(lease) {
                semaphore.end_wait(lease, refused::NO_LEASE, around);
                touched.insert(*name);
            }
        }
        touched
    }

    /// Does a call that was parked come back to its place by this?
    pub(crate) fn takes_back(&mut self, call: WaitingCall, around: &mut Around) -> bool {
        let WaitingCall { lease, semaphore, ticket } = call;
        let wait = self.semaphores.get_mut(semaphore);
        let wait = wait.and_then(|semaphore| semaphore.waits.get_mut(lease));
        let listened = wait.as_ref().is_some_and(|wait| wait.listens());
        let call = wait.and_then(|wait| wait.call(ticket));
        let back = call.is_some_and(|call| {
            call.since = if call.parked { around.now } else { call.since };
            std::mem::take(&mut call.parked)
        });
        if back {
            self.semaphores.entry(semaphore).and_modify(|semaphore| {
                if !listened {
                    semaphore.enter(lease);
                }
                semaphore.keep_flows();
            });
            around.asking.insert(ticket);
            self.mark(ticket.node, around.now);
        }
        back
    }

    /// A call begins to listen through the node.
    pub(crate) fn mark(&mut self, node: Name, now: Micros) {
        self.marks.insert(node, now + ALIVE_FOR);
    }

    /// A node has a mark just while a call listens through it.
    pub(crate) fn forget_marks(&mut self) {
        let waiting: BTreeSet<_> = self.semaphores.values().flat_map(Semaphore::nodes).collect();
        self.marks.retain(|node, _| waiting.contains(node));
    }

    /// How many calls listen through the node.
    pub(crate) fn waiting(&self, node: Name) -> usize {
        let waits = self.semaphores.values().flat_map(|semaphore| semaphore.waits.values());
        let calls = waits.flat_map(|wait| &wait.calls);
        calls.filter(|call| !call.parked && call.ticket.node == node).count()
    }

    /// µs until something is due, or -1.
    pub(crate) fn sweep_in(&self, now: Micros) -> Micros {
        let leases = self.leases.values().map(|lease| lease.expires_at);
        let waits = self.semaphores.values().flat_map(|semaphore| semaphore.waits.values());
        let calls = self.semaphores.values().filter_map(|semaphore| semaphore.remembered.due);
        let due = leases.chain(self.marks.values().copied()).chain(waits.map(Wait::forgotten_at));
        let due = due.chain(calls);
        due.min().map_or(-1, |first| (first - now).max(0))
    }
}
