//! Fencing tokens rise from hold to hold.

use std::time::Instant;

use super::Findings;
use crate::fleet::PERMITS;
use crate::history::Acquire;

/// Of two holds of which one was answered before the other was asked for, the other has the larger
/// token; and no two have the same.
pub(super) fn tokens_rise(acquires: &[Acquire]) -> Findings {
    let mut findings = Findings::default();
    for semaphore in 0..PERMITS.len() {
        let here = acquires.iter().filter(|acquire| acquire.semaphore == semaphore);
        let mut begun: Vec<(Instant, Instant, i64, &str)> = here
            .filter_map(|a| Some((a.begun, a.ended, a.new_hold()?, a.lease.as_str())))
            .collect();
        findings.add(are_distinct(&begun));
        begun.sort();
        let mut ended = begun.clone();
        ended.sort_by_key(|&(_, ended, ..)| ended);
        let (mut ended, mut largest) = (ended.into_iter().peekable(), 0);
        for (asked, _, token, lease) in begun {
            while let Some((_, _, before, _)) = ended.next_if(|&(_, ended, ..)| ended < asked) {
                largest = largest.max(before);
            }
            findings.check(token > largest, || format!("{lease} has {token} after {largest}"));
        }
    }
    findings
}

fn are_distinct(holds: &[(Instant, Instant, i64, &str)]) -> Findings {
    let mut findings = Findings::default();
    let mut tokens: Vec<(i64, &str)> =
        holds.iter().map(|&(_, _, token, lease)| (token, lease)).collect();
    tokens.sort_unstable();
    for pair in tokens.windows(2) {
        findings.check(pair[0].0 != pair[1].0, || format!("one token for two: {pair:?}"));
    }
    findings
}
