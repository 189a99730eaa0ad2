use super::{
    Answer, Around, Call, Label, MAX_CALLS, Micros, Name, Namespace, Outcome, Refused, Semaphore,
    Ticket, Wait, refused,
};

/// What an acquire asks for, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(crate) semaphore: Name,
    pub(crate) lease: Name,
    pub(crate) ticket: Ticket,
    pub(crate) weight: i64,
    pub(crate) label: Label,
    /// Zero answers at once.
    pub(crate) timeout: Micros,
    /// Does the node hear its channel? Else the call stands aside at first.
    pub(crate) listening: bool,
}

impl Namespace {
    pub(crate) fn acquire(
        &mut self,
        wanted: Wanted,
        around: &mut Around,
    ) -> Result<Answer, Refused> {
        let Wanted { semaphore: name, lease, ticket, .. } = wanted;
        if self.a_lease_is_due(around.now) {
            self.sweep(around);
        }
        self.lease(lease)?;
        self.semaphore(name)?;
        if !self.is_uncontended(wanted, around) {
            self.sweep(around);
            self.admit(name, around);
        }
        let holds_and_waits = self.holds_and_waits(lease);
        let semaphore = self.semaphore(name)?;
        if semaphore.claim(lease, ticket) {
            return Ok(Answer::Outcome(semaphore.acquired(lease)));
        }
        let (weight, label) = semaphore.asked(wanted);
        if weight > semaphore.permits {
            return Err(refused::TOO_HEAVY);
        }
        semaphore.last_activity_at = around.now;
        let fits = semaphore.fits(lease, weight);
        if !fits && wanted.timeout == 0 {
            let waiting = Box::new(semaphore.waiting(lease, weight, around.now));
            return Ok(Answer::Outcome(Outcome::Unavailable(semaphore.shown(), waiting)));
        }
        if !semaphore.waits.contains_key(lease) {
            semaphore.within_limits(lease, fits, holds_and_waits, around)?;
        }
        let stood = semaphore.waits.get(lease).map(|wait| (wait.arrival, wait.queued_at));
        let queued = semaphore.waits.get(lease).filter(|wait| wait.listens());
        let queued = queued.map(|wait| wait.weight);
        let (wait, begins) = semaphore.joined(wanted, weight, label, around.now)?;
        if fits {
            let less = weight < semaphore.held_by(lease);
            semaphore.waits.remove(lease);
            queued.into_iter().for_each(|weight| semaphore.drain.add(weight, around.now));
            semaphore.grant(lease, wait, stood, Some(ticket), around);
            if less || stood.is_some() {
                self.admit(name, around);
            }
            return Ok(Answer::Outcome(self.semaphore(name)?.acquired(lease)));
        }
        if stood.is_none() && semaphore.queue().is_empty() {
            semaphore.drain.begin(around.now);
        }
        semaphore.next_arrival += u32::from(stood.is_none());
        semaphore.waits.insert(lease, wait);
        if begins {
            self.mark(ticket.node, around.now);
        }
        self.forget_marks();
        Ok(Answer::Outcome(Outcome::Waiting { sweep_in: self.sweep_in(around.now) }))
    }

    /// Nobody waits, and it is granted at once: what is due but holds nobody up may stay.
    fn is_uncontended(&self, wanted: Wanted, around: &Around) -> bool {
        let Some(semaphore) = self.semaphores.get(wanted.semaphore) else { return false };
        let nothing_yet = semaphore.held_by(wanted.lease) == 0
            && !semaphore.waits.contains_key(wanted.lease)
            && semaphore.queue().is_empty();
        nothing_yet
            && semaphore.held() + wanted.weight <= semaphore.permits
            && semaphore.holds.len() < around.limits.holders
            && self.holds_and_waits(wanted.lease) < around.limits.holds_per_lease
    }
}

impl Semaphore {
    /// The same call again asks for what its lease has asked for since.
    fn asked(&self, wanted: Wanted) -> (i64, Label) {
        match self.waits.get(wanted.lease) {
            Some(wait) if wait.calls.iter().any(|call| call.ticket == wanted.ticket) => {
                (wait.weight, wait.label)
            }
            _ => (wanted.weight, wanted.label),
        }
    }

    /// Nobody barges: it fits where nobody stands before it, or where it asks for no more.
    fn fits(&self, lease: Name, weight: i64) -> bool {
        let need = weight - self.held_by(lease);
        let arrival = self.waits.get(lease).map_or(u32::MAX, |wait| wait.arrival);
        let place = self.place(lease, arrival);
        let before = |other: &Name| self.place(other, self.waits[other].arrival) < place;
        let ahead = self.queue().iter().any(|other| *other != lease && before(other));
        need <= 0 || !ahead && self.held() + need <= self.permits
    }

    fn within_limits(
        &self,
        lease: Name,
        fits: bool,
        holds_and_waits: usize,
        around: &Around,
    ) -> Result<(), Refused> {
        let holds = self.holds.contains_key(lease);
        if !holds && holds_and_waits >= around.limits.holds_per_lease {
            Err(refused::MAX_HOLDS)
        } else if fits && !holds && self.holds.len() >= around.limits.holders {
            Err(refused::MAX_HOLDERS)
        } else if !fits && self.waits.len() >= around.limits.waiters {
            Err(refused::MAX_WAITERS)
        } else {
            Ok(())
        }
    }

    /// The lease's wait with this call in it, and whether the call begins to listen.
    fn joined(
        &self,
        wanted: Wanted,
        weight: i64,
        label: Label,
        now: Micros,
    ) -> Result<(Wait, bool), Refused> {
        let Wanted { lease, ticket, timeout, listening, .. } = wanted;
        let (arrival, queued_at, calls) = (self.next_arrival, now, Vec::new());
        let new = || Wait { weight, label, arrival, queued_at, calls };
        let mut wait = self.waits.get(lease).cloned().unwrap_or_else(new);
        if let Some(call) = wait.call(ticket) {
            let begins = call.aside && listening;
            call.aside &= !listening;
            return Ok((wait, begins));
        }
        wait.forget_over(now);
        if wait.calls.len() >= MAX_CALLS {
            return Err(refused::MAX_CALLS);
        }
        (wait.weight, wait.label) = (weight, label);
        wait.calls.push(Call { ticket, deadline_at: now + timeout, aside: !listening });
        Ok((wait, listening))
    }
}
