//! Every wait ends when it should, and every grant is told.

use std::time::{Duration, SystemTime};

use super::{Findings, Strike, unreachable};
use crate::caller::Habits;
use crate::history::{Acquire, End};

/// Past its timeout, on a machine with two cores and fifty processes.
const LATE: Duration = Duration::from_secs(5);
/// Where Redis or the node was away: the time for which lost connections are retried, an attempt of
/// it that is under way, and the longest that anything here stands still.
const LATE_WHERE_UNREACHABLE: Duration = Duration::from_secs(40);
/// Timers run by ticks of a millisecond.
const EARLY: Duration = Duration::from_millis(5);

pub(super) fn in_time(acquires: &[Acquire], strikes: &[Strike], habits: Habits) -> Findings {
    let mut findings = Findings::default();
    for acquire in acquires {
        let took = acquire.ended - acquire.begun;
        let late = if unreachable(acquire, strikes) { LATE_WHERE_UNREACHABLE } else { LATE };
        findings.check(took <= acquire.timeout + late, || format!("took {took:?}: {acquire:?}"));
        match acquire.end {
            End::TimedOut if habits.steady_clock => {
                findings.check(took + EARLY >= acquire.timeout, || {
                    format!("timed out after {took:?}: {acquire:?}")
                });
            }
            End::Acquired { token, at } if habits.steady_clock && acquire.new_hold().is_some() => {
                let untold = since_grant(token, at);
                findings.check(untold <= late, || format!("told after {untold:?}: {acquire:?}"));
            }
            _ => {}
        }
    }
    findings
}

/// A token is the time of its grant, in microseconds, or a little more.
fn since_grant(token: i64, at: SystemTime) -> Duration {
    let granted = SystemTime::UNIX_EPOCH + Duration::from_micros(token.unsigned_abs());
    at.duration_since(granted).unwrap_or_default()
}
