use super::{
    Answer, Around, Call, Label, MAX_CALLS, Micros, Name, Namespace, Outcome, Refused, Semaphore,
    Stood, Ticket, Wait, refused,
};

/// What an acquire asks for, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AcquireArguments {
    pub(crate) semaphore: Name,
    pub(crate) lease: Name,
    pub(crate) ticket: Ticket,
    pub(crate) weight: i64,
    pub(crate) share: i64,
    pub(crate) label: Label,
    /// Zero answers at once.
    pub(crate) timeout: Micros,
    /// Is the node subscribed? Else the call is parked at first.
    pub(crate) listening: bool,
}

impl Namespace {
    pub(crate) fn acquire(
        &mut self,
        wanted: AcquireArguments,
        around: &mut Around,
    ) -> Result<Answer, Refused> {
        let AcquireArguments { semaphore: name, lease, ticket, .. } = wanted;
        if self.a_lease_is_due(around.now) {
            self.sweep(around);
        }
        let process = self.lease(lease)?.process;
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
        let (wait, known) = semaphore.asked(wanted, process, around.now);
        let weight = wait.weight;
        if weight > semaphore.permits {
            return Err(refused::TOO_HEAVY);
        }
        semaphore.last_activity_at = around.now;
        let fits = semaphore.fits(lease, &wait);
        if !fits && wanted.timeout == 0 {
            let waiting = Box::new(semaphore.waiting(lease, &wait, weight, around.now));
            return Ok(Answer::Outcome(Outcome::Unavailable(semaphore.shown(), waiting)));
        }
        if !semaphore.waits.contains_key(lease) {
            semaphore.within_limits(lease, fits, holds_and_waits, around)?;
        }
        let old = semaphore.waits.get(lease).cloned();
        let queued = old.as_ref().filter(|old| old.listens()).map(|old| old.weight);
        let (wait, begins) = joined(wait, wanted, known, around.now)?;
        if fits {
            let less = weight < semaphore.held_by(lease);
            let stood = old.as_ref().map(|old| (Stood::of(&wait), old.listens()));
            semaphore.waits.remove(lease);
            queued.into_iter().for_each(|weight| semaphore.drain.add(weight, around.now));
            semaphore.grant(lease, wait, stood, Some(ticket), around);
            if less || old.is_some() {
                self.admit(name, around);
            }
            return Ok(Answer::Outcome(self.semaphore(name)?.acquired(lease)));
        }
        if old.is_none() && semaphore.queue().is_empty() {
            semaphore.drain.begin(around.now);
        }
        semaphore.next_arrival += u32::from(old.is_none());
        let place = |wait: &Wait| semaphore.place(lease, wait);
        let stays = |old: &Wait| old.is_in_flow() && place(&wait) == place(old);
        let stays = old.as_ref().is_some_and(stays);
        let goes_back = old.is_some_and(|old| place(&wait) > place(&old));
        semaphore.waits.insert(lease, wait);
        if !stays {
            semaphore.push(lease);
        }
        semaphore.keep_flows();
        if goes_back {
            self.admit(name, around);
        }
        if begins {
            self.mark(ticket.node, around.now);
        }
        self.forget_marks();
        Ok(Answer::Outcome(Outcome::Waiting { sweep_in: self.sweep_in(around.now) }))
    }

    /// Nobody waits, and it is granted at once: what is due but holds nobody up may stay.
    fn is_uncontended(&self, wanted: AcquireArguments, around: &Around) -> bool {
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
    /// The wait of a lease that waits from now on, for that weight and share.
    pub(crate) fn newcomer(
        &self,
        lease: Name,
        process: Name,
        (weight, share): (i64, i64),
        now: Micros,
    ) -> Wait {
        let (arrival, queued_at, calls) = (self.next_arrival, now, Vec::new());
        let wait =
            Wait { weight, share, process, label: 0, arrival, start: None, queued_at, calls };
        Wait { start: self.start(lease, &wait, None), ..wait }
    }

    /// The wait as it would stand with this call, and whether the call is known: the same call again
    /// asks for what its lease has asked for since.
    fn asked(&self, wanted: AcquireArguments, process: Name, now: Micros) -> (Wait, bool) {
        let AcquireArguments { lease, weight, share, label, ticket, listening, .. } = wanted;
        let Some(wait) = self.waits.get(lease) else {
            let wait = self.newcomer(lease, process, (weight, share), now);
            return (Wait { label, ..wait }, false);
        };
        let mut wait = wait.clone();
        let known = wait.call(ticket).is_some();
        if !known {
            (wait.weight, wait.share, wait.label) = (weight, share, label);
        }
        // Unparked, it stands where it would be by now.
        if listening && !wait.listens() && wait.start.is_some() {
            wait.start = Some(self.turn(lease, &wait, wait.start));
        }
        (wait, known)
    }

    /// Nobody barges: it fits where nobody stands before it, or where it asks for no more.
    fn fits(&self, lease: Name, wait: &Wait) -> bool {
        let need = wait.weight - self.held_by(lease);
        let place = self.place(lease, wait);
        let before = |other: &Name| self.place(other, &self.waits[other]) < place;
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
        let own = Some(self.max_waiters as usize).filter(|own| *own > 0);
        let max_waiters = around.limits.waiters.min(own.unwrap_or(usize::MAX));
        let holds = self.holds.contains_key(lease);
        if !holds && holds_and_waits >= around.limits.holds_per_lease {
            Err(refused::MAX_HOLDS)
        } else if fits && !holds && self.holds.len() >= around.limits.holders {
            Err(refused::MAX_HOLDERS)
        } else if !fits && self.waits.len() >= max_waiters {
            Err(refused::MAX_WAITERS)
        } else {
            Ok(())
        }
    }
}

/// The wait with this call in it, and whether the call begins to listen.
fn joined(
    mut wait: Wait,
    wanted: AcquireArguments,
    known: bool,
    now: Micros,
) -> Result<(Wait, bool), Refused> {
    let AcquireArguments { ticket, timeout, listening, .. } = wanted;
    if let Some(call) = wait.call(ticket).filter(|_| known) {
        let begins = call.parked && listening;
        call.parked &= !listening;
        if begins {
            call.since = now;
        }
        return Ok((wait, begins));
    }
    wait.forget_over(now);
    if wait.calls.len() >= MAX_CALLS {
        return Err(refused::MAX_CALLS);
    }
    wait.calls.push(Call { ticket, deadline_at: now + timeout, since: now, parked: !listening });
    Ok((wait, listening))
}
