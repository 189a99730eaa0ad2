//! Which calls' answers have come: Redis need not remember those any more.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::types::SemaphoreName;

/// What is not told, Redis forgets by itself after that long (`lua/shared/ownerless.lua`).
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(600);
/// Nobody asks again, or undoes, after that long: what is asked last may take as long again.
pub(crate) const ASKED_FOR: Duration = Duration::from_secs(REMEMBERED_FOR.as_secs() / 2);
/// Tickets in all; of more, nothing is told.
const MOST: usize = 100_000;
/// Tickets that one call takes along.
const BATCH: usize = 500;

/// Tickets, kept until the next call on their semaphore takes the news along.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    semaphores: HashMap<SemaphoreName, Tickets>,
    count: usize,
}

#[derive(Debug)]
struct Tickets {
    tickets: Vec<String>,
    last: Instant,
}

impl Heard {
    pub(crate) fn note(&self, semaphore: &SemaphoreName, ticket: String) {
        let (mut state, now) = (self.state(), Instant::now());
        if state.count >= MOST {
            state.forget_before(now);
        }
        if state.count >= MOST {
            return;
        }
        state.count += 1;
        let tickets = state.semaphores.entry(semaphore.clone());
        let tickets = tickets.or_insert_with(|| Tickets { tickets: Vec::new(), last: now });
        tickets.tickets.push(ticket);
        tickets.last = now;
    }

    pub(crate) fn take(&self, semaphore: &SemaphoreName) -> Vec<String> {
        let mut state = self.state();
        let Some(mut tickets) = state.semaphores.remove(semaphore) else { return Vec::new() };
        let rest = tickets.tickets.len().saturating_sub(BATCH);
        let taken = tickets.tickets.split_off(rest);
        state.count -= taken.len();
        if rest > 0 {
            state.semaphores.insert(semaphore.clone(), tickets);
        }
        taken
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Of semaphores that nobody has called for so long Redis has forgotten all.
    fn forget_before(&mut self, now: Instant) {
        self.semaphores.retain(|_, tickets| now.duration_since(tickets.last) < REMEMBERED_FOR);
        self.count = self.semaphores.values().map(|tickets| tickets.tickets.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semaphore(name: usize) -> SemaphoreName {
        SemaphoreName { namespace: "ns".to_owned(), name: name.to_string() }
    }

    #[test]
    fn what_is_taken_along_is_not_told_again() {
        let heard = Heard::default();
        heard.note(&semaphore(1), "n:1".to_owned());
        heard.note(&semaphore(2), "n:2".to_owned());
        assert_eq!(heard.take(&semaphore(1)), ["n:1"]);
        assert!(heard.take(&semaphore(1)).is_empty());
        assert_eq!(heard.take(&semaphore(2)), ["n:2"]);
        assert_eq!(heard.state().count, 0);
    }

    #[test]
    fn many_are_taken_along_by_several() {
        let heard = Heard::default();
        for number in 0..2 * BATCH + 1 {
            heard.note(&semaphore(1), number.to_string());
        }
        assert_eq!([(); 4].map(|()| heard.take(&semaphore(1)).len()), [BATCH, BATCH, 1, 0]);
    }

    #[test]
    fn it_does_not_grow_with_what_nobody_calls_again() {
        let heard = Heard::default();
        for number in 0..MOST + 9 {
            heard.note(&semaphore(number), "n:1".to_owned());
        }
        assert_eq!(heard.state().count, MOST);
        heard.state().forget_before(Instant::now() + REMEMBERED_FOR);
        assert_eq!(heard.state().count, 0);
        assert!(heard.state().semaphores.is_empty());
        heard.note(&semaphore(0), "n:2".to_owned());
        assert_eq!(heard.take(&semaphore(0)), ["n:2"]);
    }
}
