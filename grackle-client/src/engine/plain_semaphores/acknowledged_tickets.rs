//! The tickets of answered downs and ups: Redis need not remember those any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::engine::sweeper::idle::IdleSweeper;
use crate::scripts::REMEMBERED_FOR;
use crate::types::SemaphoreName;

/// Tickets in all; more are not acknowledged, and Redis forgets them by itself.
const MAX_TICKETS: usize = 100_000;
/// Tickets that one call acknowledges.
const BATCH: usize = 500;

/// Tickets, kept until the next call on their semaphore acknowledges them.
pub(crate) struct AcknowledgedTickets {
    state: Mutex<State>,
    /// Sweeps what Redis remembers too long.
    sweeper: Arc<IdleSweeper>,
}

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

impl AcknowledgedTickets {
    pub(crate) fn new(sweeper: Arc<IdleSweeper>) -> Self {
        Self { state: Mutex::default(), sweeper }
    }

    /// The answer to this call has come.
    pub(crate) fn add(&self, semaphore: &SemaphoreName, ticket: String) {
        self.state().add(semaphore, ticket, Instant::now());
        self.sweeper.sweep_within(&semaphore.namespace, REMEMBERED_FOR);
    }

    /// The tickets that the next call on the semaphore is to acknowledge.
    pub(crate) fn take(&self, semaphore: &SemaphoreName) -> Vec<String> {
        self.state().take(semaphore)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, semaphore: &SemaphoreName, ticket: String, now: Instant) {
        if self.count >= MAX_TICKETS {
            self.forget_before(now);
        }
        if self.count >= MAX_TICKETS {
            return;
        }
        self.count += 1;
        let tickets = self.semaphores.entry(semaphore.clone());
        let tickets = tickets.or_insert_with(|| Tickets { tickets: Vec::new(), last: now });
        tickets.tickets.push(ticket);
        tickets.last = now;
    }

    fn take(&mut self, semaphore: &SemaphoreName) -> Vec<String> {
        let Some(mut tickets) = self.semaphores.remove(semaphore) else { return Vec::new() };
        let rest = tickets.tickets.len().saturating_sub(BATCH);
        let taken = tickets.tickets.split_off(rest);
        self.count -= taken.len();
        if rest > 0 {
            self.semaphores.insert(semaphore.clone(), tickets);
        }
        taken
    }

    /// Drops the tickets of semaphores that were called last so long ago that Redis has forgotten them.
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
    fn tickets_are_acknowledged_once() {
        let mut tickets = State::default();
        tickets.add(&semaphore(1), "n:1".to_owned(), Instant::now());
        tickets.add(&semaphore(2), "n:2".to_owned(), Instant::now());
        assert_eq!(tickets.take(&semaphore(1)), ["n:1"]);
        let found = tickets.take(&semaphore(1));
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(tickets.take(&semaphore(2)), ["n:2"]);
        assert_eq!(tickets.count, 0);
    }

    #[test]
    fn many_tickets_are_acknowledged_by_several_calls() {
        let mut tickets = State::default();
        for number in 0..2 * BATCH + 1 {
            tickets.add(&semaphore(1), number.to_string(), Instant::now());
        }
        assert_eq!([(); 4].map(|()| tickets.take(&semaphore(1)).len()), [BATCH, BATCH, 1, 0]);
    }

    #[test]
    fn tickets_of_semaphores_that_are_never_called_again_are_limited() {
        let mut tickets = State::default();
        for number in 0..MAX_TICKETS + 9 {
            tickets.add(&semaphore(number), "n:1".to_owned(), Instant::now());
        }
        assert_eq!(tickets.count, MAX_TICKETS);
        tickets.forget_before(Instant::now() + REMEMBERED_FOR);
        assert_eq!(tickets.count, 0);
        let found = &tickets.semaphores;
        assert!(found.is_empty(), "{found:?}");
        tickets.add(&semaphore(0), "n:2".to_owned(), Instant::now());
        assert_eq!(tickets.take(&semaphore(0)), ["n:2"]);
    }
}
