//! Callers that take turns, while a test breaks what is under them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use grackle_client::wire::AcquireOutcome;
use grackle_client::{Error, ErrorKind};
use tokio::task::JoinHandle;

use super::eventually::eventually;
use super::test_namespace::{LONG, TestNamespace};

/// How long all may take to come to an end.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Callers of a semaphore of one permit: each acquires, holds for a moment, releases, and again.
pub struct Traffic {
    stop: Arc<AtomicBool>,
    turns: Arc<AtomicUsize>,
    callers: Vec<JoinHandle<Vec<Turn>>>,
}

/// One hold, as its caller saw it.
#[derive(Debug, Clone)]
pub struct Turn {
    pub lease: String,
    pub token: i64,
    pub begun: Instant,
    pub ended: Instant,
}

impl Traffic {
    /// So many callers, by turns on these nodes.
    pub async fn start(nodes: &[TestNamespace], callers: usize) -> Self {
        let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = Vec::new();
        for space in nodes.iter().cycle().take(callers) {
            let lease = space.lease().await;
            let caller = call(space.clone(), lease, Arc::clone(&stop), Arc::clone(&turns));
            tasks.push(tokio::spawn(caller));
        }
        Self { stop, turns, callers: tasks }
    }

    /// Waits until so many more turns have been had.
    pub async fn goes_on(&self, more: usize, within: Duration) {
        let enough = self.turns.load(Ordering::Relaxed) + more;
        eventually("the traffic goes on", within, async || {
            (self.turns.load(Ordering::Relaxed) >= enough).then_some(())
        })
        .await;
    }

    /// Every call comes to its end; all turns, by their beginning.
    pub async fn finish(self) -> Vec<Turn> {
        self.stop.store(true, Ordering::Relaxed);
        let mut turns = Vec::new();
        for caller in self.callers {
            let caller = tokio::time::timeout(ENDS_WITHIN, caller).await;
            turns.extend(caller.expect("every call ends").expect("no wrong answer"));
        }
        turns.sort_by_key(|turn| turn.begun);
        turns
    }
}

async fn call(
    space: TestNamespace,
    lease: String,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Vec<Turn> {
    let mut turns = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let Some(answer) = answered(space.acquire(&lease, 1, LONG).await) else { continue };
        assert_eq!(answer.outcome, AcquireOutcome::Acquired);
        let begun = Instant::now();
        tokio::task::yield_now().await;
        let (lease, token) = (lease.clone(), answer.fencing_token);
        turns.push(Turn { lease, token, begun, ended: Instant::now() });
        count.fetch_add(1, Ordering::Relaxed);
        while answered(space.try_release(&turns[turns.len() - 1].lease).await).is_none() {}
    }
    turns
}

/// None where the call may be made again.
fn answered<T>(answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(error) if error.kind() == ErrorKind::Unavailable => None,
        Err(error) => panic!("{error}"),
    }
}

impl Turn {
    /// Checks that no two turns overlap and that tokens rise. Where the last writes of a master that
    /// died at `lost_until` were lost, what it granted may be granted again, and what was released
    /// there be held still, under its old token.
    pub fn check(turns: &[Self], lost_until: Option<Instant>) {
        let (mut last, mut of_lease) = (0, HashMap::new());
        for pair in turns.windows(2) {
            let lost = lost_until.is_some_and(|until| pair[0].begun <= until);
            assert!(lost || pair[0].ended <= pair[1].begun, "two at once: {pair:#?}");
        }
        for turn in turns {
            let before = of_lease.insert(&turn.lease, turn.token);
            let held_still = lost_until.is_some() && before == Some(turn.token);
            assert!(held_still || turn.token > last, "{turn:#?} after the token {last}");
            last = last.max(turn.token);
        }
    }
}
