//! Which calls' answers have come: Redis need not remember those any more.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::topic::FullName;

/// What is not told, Redis forgets by itself after that long (`lua/shared/ownerless.lua`).
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(600);
/// Of more, nothing is told.
const MOST_SEMAPHORES: usize = 1_000;
const MOST_TICKETS: usize = 100;

/// Tickets, kept until the next call on their semaphore takes the news along.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<HashMap<FullName, Vec<String>>>);

impl Heard {
    pub(crate) fn note(&self, semaphore: &FullName, ticket: String) {
        let mut heard = self.heard();
        if heard.len() >= MOST_SEMAPHORES {
            heard.clear();
        }
        let tickets = heard.entry(semaphore.clone()).or_default();
        if tickets.len() < MOST_TICKETS {
            tickets.push(ticket);
        }
    }

    pub(crate) fn take(&self, semaphore: &FullName) -> Vec<String> {
        self.heard().remove(semaphore).unwrap_or_default()
    }

    fn heard(&self) -> MutexGuard<'_, HashMap<FullName, Vec<String>>> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semaphore(name: usize) -> FullName {
        FullName { namespace: "ns".to_owned(), name: name.to_string() }
    }

    #[test]
    fn what_is_taken_along_is_not_told_again() {
        let heard = Heard::default();
        heard.note(&semaphore(1), "n:1".to_owned());
        heard.note(&semaphore(2), "n:2".to_owned());
        assert_eq!(heard.take(&semaphore(1)), ["n:1"]);
        assert!(heard.take(&semaphore(1)).is_empty());
        assert_eq!(heard.take(&semaphore(2)), ["n:2"]);
    }

    #[test]
    fn it_does_not_grow_with_what_nobody_calls_again() {
        let heard = Heard::default();
        for number in 0..3 * MOST_SEMAPHORES {
            heard.note(&semaphore(number), "n:1".to_owned());
            heard.note(&semaphore(0), "n:2".to_owned());
        }
        assert!(heard.heard().len() <= MOST_SEMAPHORES);
        assert!(heard.take(&semaphore(0)).len() <= MOST_TICKETS);
    }
}
