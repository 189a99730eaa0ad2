//! What a history has to fulfil.

mod ends;
mod exclusion;
mod fencing;
mod order;

use std::time::{Duration, Instant};

use crate::caller::Habits;
use crate::fault::Unreachable;
use crate::history::{Acquire, History};
use crate::observer::Sightings;

/// How long a node that was unreachable may be passed over afterwards.
pub(crate) const SETTLES: Duration = Duration::from_secs(8);

/// A fault struck then.
pub(crate) struct Strike {
    pub(crate) unreachable: Unreachable,
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

/// What checks came to.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) checks: u64,
    pub(crate) violations: Vec<String>,
}

impl Findings {
    pub(crate) fn check(&mut self, holds: bool, else_say: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.violations.push(else_say());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.checks += other.checks;
        self.violations.extend(other.violations);
    }
}

pub(crate) fn all(
    history: &History,
    strikes: &[Strike],
    sightings: &Sightings,
    habits: Habits,
) -> Findings {
    let mut findings = Findings { checks: 0, violations: history.wrong.clone() };
    findings.add(exclusion::by_time(&history.holds));
    findings.add(exclusion::by_token(history));
    findings.add(fencing::tokens_rise(&history.acquires));
    let order = order::first_come_first_served(&history.acquires, strikes, sightings);
    findings.check(order.checks > 0, || "no waiter's order could be looked at".to_owned());
    findings.add(order);
    findings.add(ends::in_time(&history.acquires, strikes, habits));
    findings
}

/// Whether the acquire's node may have been unreachable meanwhile.
fn unreachable(acquire: &Acquire, strikes: &[Strike]) -> bool {
    strikes.iter().filter(|strike| overlaps(acquire, strike)).any(|strike| {
        match strike.unreachable {
            Unreachable::Nobody => false,
            Unreachable::Node(node) => node == acquire.node,
            Unreachable::All => true,
        }
    })
}

fn overlaps(acquire: &Acquire, strike: &Strike) -> bool {
    strike.from <= acquire.ended && acquire.begun <= strike.until + SETTLES
}
