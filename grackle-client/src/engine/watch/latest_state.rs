//! The latest state of a watched semaphore, as its watchers are shown it.

use std::sync::Arc;

use tokio::sync::watch::Sender;

use crate::engine::watch::registry::Shown;
use crate::error::Error;
use crate::scripts::{REORDER_WINDOW, WatchReply};

pub(super) struct LatestState {
    shown: Arc<Sender<Shown>>,
    /// The time of the state that is shown, in µs by Redis' clock.
    at: i64,
}

impl LatestState {
    pub(super) fn new(shown: Arc<Sender<Shown>>) -> Self {
        Self { shown, at: 0 }
    }

    /// The next state counts, whatever its time.
    pub(super) fn forget_time(&mut self) {
        self.at = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(*self.shown.borrow(), Shown::NotYet)
    }

    /// Shows a state, unless a newer one is shown. True where that is news.
    pub(super) fn see(&mut self, state: WatchReply) -> bool {
        let older = self.at - state.at;
        if (1..REORDER_WINDOW).contains(&older) {
            return false;
        }
        self.at = state.at;
        let before = self.shown.borrow().clone();
        match (state.semaphore, before) {
            (None, _) => self.show(Shown::Deleted),
            (Some(now), Shown::Semaphore(before)) if now == *before => false,
            // It was deleted and created again meanwhile.
            (Some(now), Shown::Semaphore(before)) if now.created_at != before.created_at => {
                self.show(Shown::Deleted)
            }
            (Some(now), _) => self.show(Shown::Semaphore(Arc::new(now))),
        }
    }

    pub(super) fn show(&self, what: Shown) -> bool {
        self.shown.send_if_modified(|shown| {
            // The client may have shut down meanwhile.
            let goes_on = !shown.is_last();
            if goes_on {
                *shown = what;
            }
            goes_on
        })
    }

    pub(super) fn is_last(&self) -> bool {
        self.shown.borrow().is_last()
    }
}

/// However the watch ends, its watchers are told: also where the runtime ends and drops its task.
impl Drop for LatestState {
    fn drop(&mut self) {
        let ended = "the runtime on which the client was connected has ended";
        self.show(Shown::Failed(Arc::new(Error::unavailable(ended))));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::wire::Semaphore;

    fn latest() -> LatestState {
        LatestState::new(Arc::new(watch::channel(Shown::NotYet).0))
    }

    fn state(at: i64, active_holds: i64) -> WatchReply {
        let semaphore = Semaphore { active_holds, created_at: 1, ..Semaphore::default() };
        WatchReply { at, sweep_in: None, semaphore: Some(semaphore) }
    }

    fn holds(latest: &LatestState) -> i64 {
        match &*latest.shown.borrow() {
            Shown::Semaphore(semaphore) => semaphore.active_holds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_older_state_is_not_shown() {
        let mut latest = latest();
        assert!(latest.see(state(5_000_000, 5)));
        assert!(!latest.see(state(4_999_999, 4)));
        assert!(latest.see(state(5_000_000, 6)), "of the same microsecond: the later in order");
        assert_eq!(holds(&latest), 6);
    }

    #[test]
    fn dropping_it_tells_the_watchers() {
        let latest = latest();
        let shown = latest.shown.subscribe();
        drop(latest);
        assert!(
            matches!(&*shown.borrow(), Shown::Failed(error) if error.to_string().contains("runtime"))
        );
    }

    #[test]
    fn a_clock_that_was_set_back_hides_no_state() {
        let mut latest = latest();
        latest.see(state(5_000_000, 5));
        assert!(latest.see(state(3_000_000, 3)));
        assert_eq!(holds(&latest), 3);
    }

    #[test]
    fn the_same_state_again_is_no_news() {
        let mut latest = latest();
        assert!(latest.see(state(1, 1)));
        assert!(!latest.see(state(2, 1)));
    }

    #[test]
    fn a_semaphore_that_was_created_again_counts_as_deleted() {
        let mut latest = latest();
        latest.see(state(1, 1));
        let again = Semaphore { created_at: 2, ..Semaphore::default() };
        assert!(latest.see(WatchReply { at: 2, sweep_in: None, semaphore: Some(again) }));
        assert!(matches!(*latest.shown.borrow(), Shown::Deleted));
        assert!(!latest.see(state(3, 1)), "nothing comes after it");
    }
}
