use std::collections::{BTreeMap, BTreeSet};

use super::{
    Around, Call, Drain, GROWING, Grant, Hold, Label, Lease, MAX_PERMITS, Micros, Name, Outcome,
    Refused, Ticket, Wait, refused,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Semaphore {
    pub(crate) request: Name,
    pub(crate) name: Name,
    pub(crate) label: Label,
    pub(crate) permits: i64,
    pub(crate) version: i64,
    pub(crate) created_at: Micros,
    pub(crate) updated_at: Micros,
    pub(crate) last_activity_at: Micros,
    pub(crate) last_token: i64,
    pub(crate) next_arrival: u32,
    pub(crate) drain: Drain,
    pub(crate) holds: BTreeMap<Name, Hold>,
    pub(crate) waits: BTreeMap<Name, Wait>,
}

impl Semaphore {
    pub(crate) fn new(request: Name, name: Name, label: Label, permits: i64, now: Micros) -> Self {
        Self {
            request,
            name,
            label,
            permits,
            version: 1,
            created_at: now,
            updated_at: now,
            last_activity_at: now,
            last_token: 0,
            next_arrival: 0,
            drain: Drain::from(0),
            holds: BTreeMap::new(),
            waits: BTreeMap::new(),
        }
    }

    pub(crate) fn held(&self) -> i64 {
        self.holds.values().map(|hold| hold.top().weight).sum()
    }

    pub(crate) fn held_by(&self, lease: Name) -> i64 {
        self.holds.get(lease).map_or(0, |hold| hold.top().weight)
    }

    /// Those who hold already and grow stand first, else they would wait for themselves.
    pub(crate) fn place(&self, lease: Name, arrival: u32) -> (bool, u32) {
        (!self.holds.contains_key(lease), arrival)
    }

    /// The place as one number, by which it is listed.
    pub(crate) fn score(&self, lease: Name, wait: &Wait) -> i64 {
        let grows = self.holds.contains_key(lease);
        i64::from(wait.arrival) - if grows { GROWING } else { 0 }
    }

    /// Those that stand before a lease, where it waits or where it would.
    pub(crate) fn ahead_of(&self, lease: Name) -> Vec<Name> {
        let arrival = self.waits.get(lease).map_or(self.next_arrival, |wait| wait.arrival);
        let place = self.place(lease, arrival);
        let mut queue = self.queue();
        queue.retain(|other| {
            *other != lease && self.place(other, self.waits[other].arrival) < place
        });
        queue
    }

    /// The waiters that can be granted, in their order.
    pub(crate) fn queue(&self) -> Vec<Name> {
        let listening = self.waits.iter().filter(|(_, wait)| wait.listens());
        let mut queue: Vec<_> = listening.map(|(lease, _)| *lease).collect();
        queue.sort_by_key(|lease| self.place(lease, self.waits[lease].arrival));
        queue
    }

    pub(crate) fn waiting_weight(&self) -> i64 {
        let listening = self.waits.values().filter(|wait| wait.listens());
        let sum: i128 = listening.map(|wait| i128::from(wait.weight)).sum();
        i64::try_from(sum).unwrap_or(MAX_PERMITS).min(MAX_PERMITS)
    }

    /// Whatever frees permits hands them on: from the head, to as many as fit.
    pub(crate) fn admit(&mut self, leases: &BTreeMap<Name, Lease>, around: &mut Around) {
        while let Some(&head) = self.queue().first() {
            let (free, held) = (self.permits - self.held(), self.held_by(head));
            let wait = self.waits.get_mut(head).expect("it is in the queue");
            if !leases.get(head).is_some_and(|lease| lease.is_alive(around.now)) {
                self.end_wait(head, refused::NO_LEASE, around);
            } else if wait.is_over(around.now) {
                self.waits.remove(head);
            } else if wait.pass_over(|ticket| around.is_deaf(ticket)) {
                continue;
            } else if wait.weight - held <= free {
                let wait = self.waits.remove(head).expect("it is in the queue");
                let place = Some((wait.arrival, wait.queued_at));
                self.drain.add(wait.weight, around.now);
                self.grant(head, wait, place, None, around);
            } else {
                return;
            }
        }
    }

    /// Gives the wait its hold; whoever listens for it is told, `asking` by the reply.
    pub(crate) fn grant(
        &mut self,
        lease: Name,
        wait: Wait,
        place: Option<(u32, Micros)>,
        asking: Option<Ticket>,
        around: &mut Around,
    ) {
        let listens = |call: &Call| !call.aside || Some(call.ticket) == asking;
        let (answered, aside): (Vec<_>, _) = wait.calls.iter().cloned().partition(listens);
        let answered = answered.iter().map(|call| call.ticket).collect();
        let (weight, label, locked_at) = (wait.weight, wait.label, around.now);
        let grant = Grant { weight, label, locked_at, answered, aside, place, settled: false };
        if let Some(hold) = self.holds.get_mut(lease) {
            hold.add(grant);
        } else {
            self.last_token = around.now.max(self.last_token + 1);
            self.holds.insert(lease, Hold { token: self.last_token, grants: vec![grant] });
        }
        around.tell(&wait, asking, &self.acquired(lease));
    }

    /// Was this call granted?
    pub(crate) fn claim(&mut self, lease: Name, ticket: Ticket) -> bool {
        self.holds.get_mut(lease).is_some_and(|hold| hold.claim(ticket))
    }

    pub(crate) fn acquired(&self, lease: Name) -> Outcome {
        Outcome::Acquired { token: self.holds[lease].token, semaphore: self.shown() }
    }

    pub(crate) fn end_wait(&mut self, lease: Name, why: Refused, around: &mut Around) {
        if let Some(wait) = self.waits.remove(lease) {
            around.tell(&wait, None, &Outcome::Failed(why));
        }
    }

    /// Ends the waits that the permits can never satisfy.
    pub(crate) fn refuse_heavy(&mut self, around: &mut Around) {
        let heavy = self.waits.iter().filter(|(_, wait)| wait.weight > self.permits);
        for lease in heavy.map(|(lease, _)| *lease).collect::<Vec<_>>() {
            self.end_wait(lease, refused::TOO_HEAVY, around);
        }
    }

    /// One call of a wait ends; the wait with it, if it was the last.
    pub(crate) fn drop_call(&mut self, lease: Name, ticket: Ticket) -> bool {
        let Some(wait) = self.waits.get_mut(lease) else { return false };
        let known = wait.call(ticket).is_some();
        wait.calls.retain(|call| call.ticket != ticket);
        if wait.calls.is_empty() {
            self.waits.remove(lease);
        }
        known
    }

    /// Takes a grant back that was this call's answer, and nobody else's. What it replaced comes
    /// back; the calls that stood aside then, and this one if it is `kept`, wait again.
    pub(crate) fn undo(&mut self, lease: Name, ticket: Ticket, kept: Option<Call>) {
        let Some(hold) = self.holds.get_mut(lease) else { return };
        if hold.unclaim(ticket).is_none() {
            return;
        }
        let mut undone = hold.grants.pop().expect("the one that is nobody's answer");
        if hold.grants.is_empty() {
            self.holds.remove(lease);
        }
        undone.aside.extend(kept);
        let Some((arrival, queued_at)) = undone.place else { return };
        if undone.aside.is_empty() {
            return;
        }
        let Grant { weight, label, .. } = undone;
        let empty = Wait { weight, label, arrival, queued_at, calls: Vec::new() };
        let wait = self.waits.entry(lease).or_insert(empty);
        wait.arrival = wait.arrival.min(arrival);
        wait.calls.append(&mut undone.aside);
    }

    pub(crate) fn nodes(&self) -> BTreeSet<Name> {
        self.waits.values().flat_map(Wait::nodes).collect()
    }
}
