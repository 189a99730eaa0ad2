//! Queues as one would write them without a thought for cost: a list of those who wait, by arrival,
//! and a look at all of it for each decision. It shares nothing with the scripts or with their model.

use grackle_client::wire::QueueDiscipline as Discipline;

/// Lease number, which is also its place among equals.
pub(crate) type Lease = usize;
pub(crate) const FLOWS: usize = 3;

/// Whose leases are whose.
pub(crate) fn flow_of(lease: Lease) -> usize {
    [0, 0, 0, 0, 1, 1, 1, 2, 2][lease]
}

#[derive(Debug, Clone)]
pub(crate) struct Waiter {
    pub(crate) lease: Lease,
    pub(crate) call: usize,
    pub(crate) weight: i64,
    pub(crate) share: i64,
    grows: bool,
}

impl Waiter {
    fn cost(&self) -> f64 {
        self.weight as f64 / self.share as f64
    }
}

/// A waiter that was admitted, at once or later.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Admitted {
    pub(crate) call: usize,
    pub(crate) flow: usize,
    pub(crate) cost: f64,
    pub(crate) waited: bool,
    pub(crate) grows: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Naive {
    pub(crate) discipline: Discipline,
    permits: i64,
    holds: Vec<(Lease, i64)>,
    pub(crate) waiters: Vec<Waiter>,
    /// By how much each flow that waits has been served, and the most that any was.
    served: [f64; FLOWS],
    pub(crate) most: f64,
    pub(crate) admitted: Vec<Admitted>,
}

impl Naive {
    pub(crate) fn new(discipline: Discipline, permits: i64) -> Self {
        let (holds, waiters, served, admitted) = (Vec::new(), Vec::new(), [0.0; FLOWS], Vec::new());
        Self { discipline, permits, holds, waiters, served, most: 0.0, admitted }
    }

    pub(crate) fn held_by(&self, lease: Lease) -> i64 {
        self.holds.iter().find(|hold| hold.0 == lease).map_or(0, |hold| hold.1)
    }

    pub(crate) fn waits(&self, lease: Lease) -> Option<&Waiter> {
        self.waiters.iter().find(|waiter| waiter.lease == lease)
    }

    /// Does a waiter of the flow stand in line for it?
    pub(crate) fn is_backlogged(&self, flow: usize) -> bool {
        self.waiters.iter().any(|waiter| flow_of(waiter.lease) == flow && !waiter.grows)
    }

    /// Is it admitted at once?
    pub(crate) fn acquire(&mut self, lease: Lease, call: usize, weight: i64, share: i64) -> bool {
        let grows = self.held_by(lease) > 0;
        let waiter = Waiter { lease, call, weight, share, grows };
        let flow = flow_of(lease);
        let begins = !grows && !self.is_backlogged(flow);
        let growing = self.waiters.iter().any(|waiter| waiter.grows);
        let ahead = match self.discipline {
            _ if grows || growing => growing,
            Discipline::Lifo => false,
            Discipline::Weighted => {
                let first = self.next().map(|next| self.tag(&self.waiters[next]));
                !begins || first.is_some_and(|first| first < self.begin() + waiter.cost())
            }
            _ => !self.waiters.is_empty(),
        };
        let fits = !ahead && self.fits(&waiter);
        if begins {
            self.served[flow] = self.begin();
        }
        if fits {
            self.admit(&waiter, false);
        } else {
            self.waiters.push(waiter);
        }
        fits
    }

    pub(crate) fn release(&mut self, lease: Lease) {
        self.holds.retain(|hold| hold.0 != lease);
        self.hand_on();
    }

    pub(crate) fn leave(&mut self, lease: Lease) {
        self.waiters.retain(|waiter| waiter.lease != lease);
        self.hand_on();
    }

    pub(crate) fn turn_to(&mut self, discipline: Discipline) {
        if discipline != self.discipline {
            (self.discipline, self.served, self.most) = (discipline, [0.0; FLOWS], 0.0);
        }
        self.hand_on();
    }

    /// Where a flow begins that had nobody waiting: before its equals.
    fn begin(&self) -> f64 {
        self.most * (1.0 - 2_f64.powi(-50))
    }

    fn tag(&self, waiter: &Waiter) -> f64 {
        self.served[flow_of(waiter.lease)] + waiter.cost()
    }

    fn next(&self) -> Option<usize> {
        if let Some(first) = self.waiters.iter().position(|waiter| waiter.grows) {
            return Some(first);
        }
        match self.discipline {
            Discipline::Lifo => self.waiters.len().checked_sub(1),
            Discipline::Weighted => {
                let of = |flow| self.waiters.iter().position(|it| flow_of(it.lease) == flow);
                (0..FLOWS).filter_map(of).min_by(|one, other| {
                    let (one, other) = (&self.waiters[*one], &self.waiters[*other]);
                    let tags = self.tag(one).total_cmp(&self.tag(other));
                    tags.then(one.lease.cmp(&other.lease))
                })
            }
            _ => (!self.waiters.is_empty()).then_some(0),
        }
    }

    fn fits(&self, waiter: &Waiter) -> bool {
        let held: i64 = self.holds.iter().map(|hold| hold.1).sum();
        held + waiter.weight - self.held_by(waiter.lease) <= self.permits
    }

    fn hand_on(&mut self) {
        while let Some(next) = self.next().filter(|next| self.fits(&self.waiters[*next])) {
            let waiter = self.waiters.remove(next);
            self.admit(&waiter, true);
        }
        if self.waiters.is_empty() {
            self.most = 0.0;
        }
    }

    fn admit(&mut self, waiter: &Waiter, waited: bool) {
        let (flow, cost) = (flow_of(waiter.lease), waiter.cost());
        let contended = waited || !self.waiters.is_empty();
        if contended && !waiter.grows && self.discipline == Discipline::Weighted {
            self.served[flow] += cost;
            self.most = self.most.max(self.served[flow]);
        }
        self.holds.retain(|hold| hold.0 != waiter.lease);
        self.holds.push((waiter.lease, waiter.weight));
        self.admitted.push(Admitted { call: waiter.call, flow, cost, waited, grows: waiter.grows });
    }
}
