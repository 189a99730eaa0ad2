use super::{Call, Label, Micros, Name, REMEMBERED, Tag, Ticket, Wait};

/// What a lease holds of a semaphore. The last grant counts; those before come back when a later
/// one turns out to be nobody's answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Hold {
    pub(crate) token: i64,
    pub(crate) grants: Vec<Grant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Grant {
    pub(crate) weight: i64,
    pub(crate) label: Label,
    pub(crate) locked_at: Micros,
    /// The calls whose answer it is.
    pub(crate) answered: Vec<Ticket>,
    /// The calls that was parked then.
    pub(crate) parked: Vec<Call>,
    /// Where it came by the queue.
    pub(crate) stood: Option<Stood>,
    /// In use, whatever becomes of the calls that are still known of it.
    pub(crate) settled: bool,
}

/// What is kept of a wait that was granted, in case that it has to wait again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stood {
    pub(crate) share: i64,
    pub(crate) process: Name,
    pub(crate) arrival: u32,
    pub(crate) start: Option<Tag>,
    pub(crate) queued_at: Micros,
}

impl Stood {
    pub(crate) fn of(wait: &Wait) -> Self {
        let Wait { share, process, arrival, start, queued_at, .. } = *wait;
        Self { share, process, arrival, start, queued_at }
    }
}

impl Hold {
    pub(crate) fn top(&self) -> &Grant {
        self.grants.last().expect("a hold is a grant at least")
    }

    /// Weight that has been given back does not come back: it may be somebody else's.
    pub(crate) fn add(&mut self, grant: Grant) {
        for old in &mut self.grants {
            old.weight = old.weight.min(grant.weight);
        }
        self.grants.push(grant);
        if self.grants.len() > REMEMBERED {
            self.grants.remove(0);
            self.grants[0].settled = true;
        }
    }

    /// Was this call granted, by any of them? One that was parked then listens again.
    pub(crate) fn claim(&mut self, ticket: Ticket) -> bool {
        for grant in self.grants.iter_mut().rev() {
            if grant.answered.contains(&ticket) {
                return true;
            }
            if let Some(at) = grant.parked.iter().position(|call| call.ticket == ticket) {
                grant.parked.remove(at);
                grant.answered.push(ticket);
                return true;
            }
        }
        false
    }

    /// Nobody waits for this call's answer any more. Returns the grant that it leaves without one;
    /// that is still the top where it was, and gone where others stand on it.
    pub(crate) fn unclaim(&mut self, ticket: Ticket) -> Option<&mut Grant> {
        let mine = |grant: &Grant| {
            grant.answered.contains(&ticket)
                || grant.parked.iter().any(|call| call.ticket == ticket)
        };
        let at = self.grants.iter().rposition(mine)?;
        let grant = &mut self.grants[at];
        let answered = grant.answered.len();
        grant.answered.retain(|other| *other != ticket);
        grant.parked.retain(|call| call.ticket != ticket);
        let is_useless = answered > 0 && grant.answered.is_empty() && !grant.settled;
        if is_useless && at + 1 < self.grants.len() {
            self.grants.remove(at);
            return None;
        }
        is_useless.then(|| &mut self.grants[at])
    }
}
