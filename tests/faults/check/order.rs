//! First come, first served, among waiters that live and listen.

use std::time::Instant;

use super::{Findings, Strike, unreachable};
use crate::fleet::PERMITS;
use crate::history::{Acquire, End};
use crate::observer::Sightings;

/// A waiter that was seen in the queue before another call began is granted before that one.
pub(super) fn first_come_first_served(
    acquires: &[Acquire],
    strikes: &[Strike],
    sightings: &Sightings,
) -> Findings {
    let mut findings = Findings::default();
    for semaphore in 0..PERMITS.len() {
        let here = || acquires.iter().filter(|acquire| acquire.semaphore == semaphore);
        let later = Later::new(here());
        for waiter in here().filter(|acquire| !acquire.repeated && !unreachable(acquire, strikes)) {
            let Some(seen) = seen_at(waiter, sightings) else { continue };
            match waiter.end {
                End::Acquired { token, .. } => {
                    let least = later.least_token_after(seen);
                    findings.check(least.is_none_or(|least| token < least), || {
                        format!("{least:?} came later and was granted before {waiter:?}")
                    });
                }
                // Until its time was up it stood in the queue.
                End::TimedOut => {
                    let answered = later.earliest_answer_after(seen);
                    let up = waiter.begun + waiter.timeout;
                    findings.check(answered.is_none_or(|answered| answered > up), || {
                        format!("somebody came later and was granted before {waiter:?}")
                    });
                }
                _ => {}
            }
        }
    }
    findings
}

/// When a look at the queue ended that was within the call and saw its lease there.
fn seen_at(waiter: &Acquire, sightings: &Sightings) -> Option<Instant> {
    let looks = sightings.get(&(waiter.semaphore, waiter.lease.clone()))?;
    let within = looks.iter().find(|l| l.after >= waiter.begun && l.before <= waiter.ended);
    within.map(|look| look.before)
}

/// Calls that began a hold, by their beginning; with the least of all that began later.
struct Later {
    begun: Vec<Instant>,
    least_token: Vec<i64>,
    earliest_answer: Vec<Instant>,
}

impl Later {
    fn new<'a>(acquires: impl Iterator<Item = &'a Acquire>) -> Self {
        let mut granted: Vec<_> =
            acquires.filter_map(|a| Some((a.begun, a.new_hold()?, a.ended))).collect();
        granted.sort_unstable();
        for index in (1..granted.len()).rev() {
            granted[index - 1].1 = granted[index - 1].1.min(granted[index].1);
            granted[index - 1].2 = granted[index - 1].2.min(granted[index].2);
        }
        Self {
            begun: granted.iter().map(|granted| granted.0).collect(),
            least_token: granted.iter().map(|granted| granted.1).collect(),
            earliest_answer: granted.iter().map(|granted| granted.2).collect(),
        }
    }

    fn least_token_after(&self, moment: Instant) -> Option<i64> {
        self.least_token.get(self.first_after(moment)).copied()
    }

    fn earliest_answer_after(&self, moment: Instant) -> Option<Instant> {
        self.earliest_answer.get(self.first_after(moment)).copied()
    }

    fn first_after(&self, moment: Instant) -> usize {
        self.begun.partition_point(|begun| *begun <= moment)
    }
}
