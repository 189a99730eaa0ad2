use std::collections::{BTreeMap, BTreeSet};

use grackle_client::wire::QueueDiscipline as Discipline;

use super::{
    Around, Call, Drain, Grant, Hold, Label, Lease, MAX_PERMITS, Micros, Name, Outcome, Refused,
    Remembered, Stood, Tag, Ticket, Wait, refused,
};

/// What is asked of a queue; nothing leaves it as it is, or makes it the usual one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) discipline: Discipline,
    /// Zero for no bound.
    pub(crate) max_waiters: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Semaphore {
    pub(crate) request: Name,
    pub(crate) name: Name,
    pub(crate) label: Label,
    pub(crate) permits: i64,
    pub(crate) discipline: Discipline,
    pub(crate) max_waiters: i64,
    pub(crate) version: i64,
    pub(crate) created_at: Micros,
    pub(crate) updated_at: Micros,
    pub(crate) last_activity_at: Micros,
    pub(crate) last_token: i64,
    pub(crate) next_arrival: u32,
    pub(crate) drain: Drain,
    /// The highest tag that was granted since somebody waits.
    pub(crate) virtual_time: Tag,
    /// Who is first of each process that has waits in a weighted queue, and how far it is served.
    pub(crate) served: BTreeMap<Name, (Name, Tag)>,
    pub(crate) holds: BTreeMap<Name, Hold>,
    pub(crate) waits: BTreeMap<Name, Wait>,
    pub(crate) remembered: Remembered,
    /// Permits that were added while one was on its way to a down: they go with the next that arrives.
    pub(crate) surplus: i64,
}

impl Semaphore {
    pub(crate) fn new(request: Name, name: Name, label: Label, permits: i64, now: Micros) -> Self {
        Self {
            request,
            name,
            label,
            permits,
            discipline: Discipline::Fifo,
            max_waiters: 0,
            version: 1,
            created_at: now,
            updated_at: now,
            last_activity_at: now,
            last_token: 0,
            next_arrival: 0,
            drain: Drain::from(0),
            virtual_time: Tag::default(),
            served: BTreeMap::new(),
            holds: BTreeMap::new(),
            waits: BTreeMap::new(),
            remembered: Remembered::default(),
            surplus: 0,
        }
    }

    pub(crate) fn held(&self) -> i64 {
        self.holds.values().map(|hold| hold.top().weight).sum()
    }

    pub(crate) fn held_by(&self, lease: Name) -> i64 {
        self.holds.get(lease).map_or(0, |hold| hold.top().weight)
    }

    /// The waiters that can be granted, in their order.
    pub(crate) fn queue(&self) -> Vec<Name> {
        let listening = self.waits.iter().filter(|(_, wait)| wait.listens());
        let mut queue: Vec<_> = listening.map(|(lease, _)| *lease).collect();
        queue.sort_by_key(|lease| (self.place(lease, &self.waits[lease]), *lease));
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
                continue;
            } else if wait.is_over(around.now) {
                self.waits.remove(head);
                self.keep_flows();
                continue;
            } else if wait.pass_over(|ticket| around.is_unsubscribed(ticket))
                || self.goes_behind(head)
            {
                self.keep_flows();
                continue;
            }
            let wait = &self.waits[head];
            if wait.weight - held <= free {
                let wait = self.waits.remove(head).expect("it is in the queue");
                let stood = Some((Stood::of(&wait), true));
                self.drain.add(wait.weight, around.now);
                self.grant(head, wait, stood, None, around);
            } else {
                return;
            }
        }
    }

    /// Gives the wait its hold. Where it `stood` in the queue, did it listen there? Whoever listens
    /// for it is told, `asking` by the reply.
    pub(crate) fn grant(
        &mut self,
        lease: Name,
        wait: Wait,
        stood: Option<(Stood, bool)>,
        asking: Option<Ticket>,
        around: &mut Around,
    ) {
        if wait.start.is_some() && (stood.is_some() || !self.queue().is_empty()) {
            self.charge(&wait, stood.is_some_and(|(_, listened)| listened));
        }
        self.keep_flows();
        let stood = stood.map(|(stood, _)| stood);
        let listens = |call: &Call| !call.parked || Some(call.ticket) == asking;
        let (answered, parked): (Vec<_>, _) = wait.calls.iter().cloned().partition(listens);
        let answered = answered.iter().map(|call| call.ticket).collect();
        let (weight, label, locked_at) = (wait.weight, wait.label, around.now);
        let grant = Grant { weight, label, locked_at, answered, parked, stood, settled: false };
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
            self.keep_flows();
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
        self.keep_flows();
        known
    }

    /// Takes a grant back that was this call's answer, and nobody else's. What it replaced comes
    /// back; the calls that was parked then, and this one if it is `kept`, wait again.
    pub(crate) fn undo(&mut self, lease: Name, ticket: Ticket, kept: Option<Call>) {
        let Some(hold) = self.holds.get_mut(lease) else { return };
        if hold.unclaim(ticket).is_none() {
            return;
        }
        let mut undone = hold.grants.pop().expect("the one that is nobody's answer");
        if hold.grants.is_empty() {
            self.holds.remove(lease);
            self.grow_no_more(lease);
        }
        undone.parked.extend(kept);
        if let Some(stood) = undone.stood.filter(|_| !undone.parked.is_empty()) {
            self.wait_again(lease, stood, undone);
        }
    }

    /// At the better of two places: where it was granted, and where its lease waits by now.
    fn wait_again(&mut self, lease: Name, stood: Stood, mut undone: Grant) {
        let Grant { weight, label, .. } = undone;
        let Stood { share, process, arrival, queued_at, start: had } = stood;
        let calls = Vec::new();
        let again = Wait { weight, share, process, label, arrival, start: None, queued_at, calls };
        let start = self.start(lease, &again, had);
        let Some(waits) = self.waits.get(lease).cloned() else {
            self.waits.insert(lease, Wait { start, calls: undone.parked, ..again });
            return self.keep_flows();
        };
        let back = Wait { arrival, start, ..waits.clone() };
        if self.place(lease, &back) < self.place(lease, &waits) {
            self.waits.remove(lease);
            self.keep_flows();
            self.waits.insert(lease, back);
            self.enter(lease);
        }
        self.waits.entry(lease).and_modify(|wait| wait.calls.append(&mut undone.parked));
        self.keep_flows();
    }

    pub(crate) fn nodes(&self) -> BTreeSet<Name> {
        self.waits.values().flat_map(Wait::nodes).collect()
    }
}
