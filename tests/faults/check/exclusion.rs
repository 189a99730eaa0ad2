//! At no moment is more weight held than there are permits.

use std::time::Instant;

use super::Findings;
use crate::fleet::PERMITS;
use crate::history::{History, Hold};

/// By the times through which callers held for certain.
pub(super) fn by_time(holds: &[Hold]) -> Findings {
    let mut findings = Findings::default();
    for (semaphore, permits) in PERMITS.into_iter().enumerate() {
        let mut steps: Vec<(Instant, i64, &Hold)> = Vec::new();
        for hold in holds.iter().filter(|hold| hold.semaphore == semaphore) {
            steps.extend([(hold.from, hold.weight, hold), (hold.until, -hold.weight, hold)]);
        }
        // What ends at a moment ends before what begins.
        steps.sort_by_key(|&(at, weight, _)| (at, weight));
        let mut held: Vec<&Hold> = Vec::new();
        for (_, weight, hold) in steps {
            if weight < 0 {
                held.retain(|other| !std::ptr::eq(*other, hold));
                continue;
            }
            held.push(hold);
            let sum: i64 = held.iter().map(|hold| hold.weight).sum();
            findings.check(sum <= permits, || {
                let by = |hold: &&Hold| format!("{} ({}, {})", hold.lease, hold.weight, hold.token);
                let by: Vec<String> = held.iter().map(by).collect();
                format!("{sum} of {permits} held: {}", by.join(", "))
            });
        }
    }
    findings
}

/// A hold of a lease, from the grant that its token tells.
struct Tenure {
    token: i64,
    /// The least that it held.
    weight: i64,
    answered: Instant,
    until: Instant,
}

/// By the order of the tokens, which is that of the grants: whoever has a smaller token, and gave
/// back only after this one was answered, held when this one was granted.
pub(super) fn by_token(history: &History) -> Findings {
    let mut findings = Findings::default();
    for (semaphore, permits) in PERMITS.into_iter().enumerate() {
        let tenures = tenures(history, semaphore);
        // No later grant was answered before that: who gave back by then counts no more.
        let mut earliest: Vec<Instant> = tenures.iter().map(|tenure| tenure.answered).collect();
        for index in (1..earliest.len()).rev() {
            earliest[index - 1] = earliest[index - 1].min(earliest[index]);
        }
        let mut before: Vec<&Tenure> = Vec::new();
        for (tenure, earliest) in tenures.iter().zip(earliest) {
            before.retain(|other| other.until > earliest);
            let others = before.iter().filter(|other| other.until > tenure.answered);
            let held = tenure.weight + others.map(|other| other.weight).sum::<i64>();
            let token = tenure.token;
            findings.check(held <= permits, || format!("{held} of {permits} held at {token}"));
            before.push(tenure);
        }
    }
    findings
}

/// Those that began by a grant of which the history knows all, by token.
fn tenures(history: &History, semaphore: usize) -> Vec<Tenure> {
    let mut holds: Vec<&Hold> = history.holds.iter().filter(|h| h.semaphore == semaphore).collect();
    holds.sort_by_key(|hold| (hold.token, hold.from));
    let new = history.acquires.iter().filter(|acquire| acquire.semaphore == semaphore);
    let mut new: Vec<_> = new.filter_map(|a| Some((a.new_hold()?, a.ended))).collect();
    new.sort_by_key(|(token, _)| *token);
    let mut tenures = Vec::new();
    for pieces in holds.chunk_by(|one, other| one.token == other.token) {
        let token = pieces[0].token;
        let Ok(found) = new.binary_search_by_key(&token, |(token, _)| *token) else { continue };
        let weight = pieces.iter().map(|hold| hold.weight).min().unwrap_or_default();
        let until = pieces.iter().map(|hold| hold.until).max().unwrap_or(new[found].1);
        tenures.push(Tenure { token, weight, answered: new[found].1, until });
    }
    tenures
}
