//! The load of the semaphores that this node has seen, up to a fixed number of them.
//!
//! It only observes what reaches the node anyway: it sends nothing to Redis.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::load::history::{ConvoyChange, LoadHistory};
use crate::types::{SemaphoreLoad, SemaphoreName};
use crate::wire::{Convoy, Semaphore};

#[derive(Debug)]
pub(crate) struct LoadRegistry {
    began: Instant,
    /// How many semaphores are kept: those that were seen last.
    capacity: usize,
    /// In order, so that those of one namespace stand together.
    histories: Mutex<BTreeMap<SemaphoreName, LoadHistory>>,
}

/// The calls of this node that wait for one semaphore: how many, and since when the first does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingCalls {
    pub(crate) count: usize,
    pub(crate) since: Instant,
}

impl WaitingCalls {
    /// One more, which waits since then.
    pub(crate) fn add(&mut self, since: Instant) {
        self.count += 1;
        self.since = self.since.min(since);
    }
}

impl LoadRegistry {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { began: Instant::now(), capacity, histories: Mutex::default() }
    }

    /// A reply or a message shows a state of a semaphore.
    pub(crate) fn observe(&self, namespace: &str, state: &Semaphore) {
        let now = self.began.elapsed();
        let Semaphore { waiting_count, active_holds, permits, last_activity_at, .. } = *state;
        self.note(now, namespace, &state.name, |history| {
            if history.is_newer(last_activity_at) {
                history.observe(now, waiting_count, active_holds, permits);
            }
        });
    }

    /// A call of this node was granted permits that it had waited for.
    pub(crate) fn observe_grant(&self, namespace: &str, name: &str, waited: Duration, weight: i64) {
        let now = self.began.elapsed();
        self.note(now, namespace, name, |history| history.observe_grant(now, waited, weight));
    }

    /// Those calls of this node wait in a namespace, by semaphore.
    pub(crate) fn observe_waiting(&self, namespace: &str, calls: HashMap<String, WaitingCalls>) {
        let now = self.began.elapsed();
        for (name, WaitingCalls { count, since }) in calls {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.note(now, namespace, &name, |history| {
                history.observe_waiting(now, count, since.elapsed());
            });
        }
        let first = full(namespace, "");
        let mut changes = Vec::new();
        for (name, history) in self.histories().range_mut(first..) {
            if name.namespace != namespace {
                break;
            }
            changes.extend(history.judge(now).map(|change| (name.clone(), change)));
        }
        changes.iter().for_each(|(name, change)| log(name, *change));
    }

    pub(crate) fn convoy(&self, namespace: &str, name: &str) -> Option<Convoy> {
        let (now, name) = (self.began.elapsed(), full(namespace, name));
        let mut all = self.histories();
        let history = all.get_mut(&name)?;
        let (change, convoy) = (history.judge(now), history.convoy(now));
        drop(all);
        if let Some(change) = change {
            log(&name, change);
        }
        convoy
    }

    pub(crate) fn load(&self, namespace: &str, name: &str) -> Option<SemaphoreLoad> {
        let (now, name) = (self.began.elapsed(), full(namespace, name));
        let all = self.histories();
        let history = all.get(&name).filter(|history| history.is_recent(now))?;
        Some(load(&name, history, now))
    }

    /// The busiest first: convoys, then by the longest queue, then by what drains from it.
    pub(crate) fn busiest(&self, most: usize) -> Vec<SemaphoreLoad> {
        let now = self.began.elapsed();
        let mut changes = Vec::new();
        let mut all = self.histories();
        for (name, history) in all.iter_mut() {
            changes.extend(history.judge(now).map(|change| (name.clone(), change)));
        }
        all.retain(|_, history| history.is_recent(now));
        let mut loads: Vec<_> =
            all.iter().map(|(name, history)| load(name, history, now)).collect();
        drop(all);
        changes.iter().for_each(|(name, change)| log(name, *change));
        loads.sort_by_cached_key(rank);
        loads.truncate(most);
        loads
    }

    fn note(
        &self,
        now: Duration,
        namespace: &str,
        name: &str,
        note: impl FnOnce(&mut LoadHistory),
    ) {
        let name = full(namespace, name);
        let mut all = self.histories();
        if all.len() >= self.capacity && !all.contains_key(&name) {
            make_room(&mut all);
        }
        let history = all.entry(name.clone()).or_insert_with(LoadHistory::new);
        note(history);
        let change = history.judge(now);
        drop(all);
        if let Some(change) = change {
            log(&name, change);
        }
    }

    fn histories(&self) -> MutexGuard<'_, BTreeMap<SemaphoreName, LoadHistory>> {
        // Nothing panics while it holds the lock half-way through a change.
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the tenth that was seen the longest ago: dropping one at a time would scan all of them for
/// each new one.
fn make_room(all: &mut BTreeMap<SemaphoreName, LoadHistory>) {
    let mut times: Vec<_> = all.values().map(LoadHistory::seen_at).collect();
    let tenth = times.len() / 10;
    let (_, limit, _) = times.select_nth_unstable(tenth);
    let (limit, mut left) = (*limit, tenth + 1);
    all.retain(|_, history| {
        let goes = left > 0 && history.seen_at() <= limit;
        left -= usize::from(goes);
        !goes
    });
}

fn load(name: &SemaphoreName, history: &LoadHistory, now: Duration) -> SemaphoreLoad {
    let samples = history.samples(now);
    let last = samples.last().cloned().unwrap_or_default();
    SemaphoreLoad {
        namespace_name: name.namespace.clone(),
        semaphore_name: name.name.clone(),
        waiting_count: last.waiting_count,
        occupancy: last.occupancy,
        wait: history.longest_wait(now),
        drained_per_second: history.drained_per_second(now),
        convoy: history.convoy(now),
        samples,
    }
}

/// The smallest is the busiest. Names decide among equals, so that their order is stable.
fn rank(load: &SemaphoreLoad) -> impl Ord + use<> {
    let longest = load.samples.iter().map(|sample| sample.waiting_count).max().unwrap_or_default();
    let drained: i64 = load.samples.iter().map(|sample| sample.drained).sum();
    let names = (load.namespace_name.clone(), load.semaphore_name.clone());
    (load.convoy.is_none(), Reverse(longest), Reverse(drained), names)
}

fn log(SemaphoreName { namespace, name }: &SemaphoreName, change: ConvoyChange) {
    match change {
        ConvoyChange::Begins(Convoy { for_seconds, wait_seconds }) => tracing::warn!(
            namespace,
            semaphore = name,
            "convoy: the queue was not empty for {for_seconds} s, and waits grew to {wait_seconds} s; \
             more permits are asked for than are given back"
        ),
        ConvoyChange::Ends { after } => tracing::info!(
            namespace,
            semaphore = name,
            "the convoy has ended after {} s",
            after.as_secs()
        ),
    }
}

fn full(namespace: &str, name: &str) -> SemaphoreName {
    SemaphoreName { namespace: namespace.to_owned(), name: name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: usize, waiting_count: i64) -> Semaphore {
        let name = format!("s{name}");
        Semaphore { name, waiting_count, permits: 2, active_holds: 1, ..Semaphore::default() }
    }

    #[test]
    fn the_semaphores_that_were_seen_last_are_kept_and_no_more() {
        let load = LoadRegistry::new(50);
        for name in 0..1_000 {
            load.observe("ns", &state(name, 0));
            // One that is always in use.
            load.observe("ns", &state(0, 0));
            let found = load.histories().len();
            assert!(found <= 50, "{found:?}");
        }
        let found = load.load("ns", "s0");
        assert!(found.is_some(), "{found:?}");
        let found = load.load("ns", "s999");
        assert!(found.is_some(), "{found:?}");
        let found = load.load("ns", "s500");
        assert!(found.is_none(), "{found:?}");
    }

    #[test]
    fn waits_of_this_nodes_calls_make_a_convoy_that_ends_with_them() {
        let mut load = LoadRegistry::new(50);
        let since = Instant::now();
        let pass = |load: &mut LoadRegistry, seconds: u64, count: usize| {
            for _ in 0..seconds / 5 {
                load.began -= Duration::from_secs(5);
                let waiting = WaitingCalls { count, since: since - load.began.elapsed() };
                let calls = (count > 0).then(|| ("s1".to_owned(), waiting)).into_iter().collect();
                load.observe_waiting("ns", calls);
            }
        };
        pass(&mut load, 60, 3);
        assert_eq!(load.convoy("ns", "s1"), None);
        pass(&mut load, 30, 3);
        let convoy = load.convoy("ns", "s1").unwrap();
        assert!((60..=90).contains(&convoy.for_seconds), "{convoy:?}");
        assert_eq!(load.busiest(9)[0].convoy, Some(convoy));
        assert_eq!(load.convoy("other", "s1"), None);
        pass(&mut load, 15, 0);
        assert!(load.convoy("ns", "s1").is_some(), "they may be about to ask again");
        pass(&mut load, 15, 0);
        assert_eq!(load.convoy("ns", "s1"), None);
    }

    #[test]
    fn the_busiest_come_first_and_no_more_than_asked_for() {
        let load = LoadRegistry::new(50);
        for (name, waiting) in [(1, 0), (2, 9), (3, 4)] {
            load.observe("ns", &state(name, waiting));
        }
        load.observe_grant("ns", "s1", Duration::from_secs(2), 6);
        let names = |most| {
            let loads = load.busiest(most);
            loads.into_iter().map(|load| load.semaphore_name).collect::<Vec<_>>()
        };
        assert_eq!(names(9), ["s2", "s3", "s1"]);
        assert_eq!(names(2), ["s2", "s3"]);
        let load = load.load("ns", "s1").unwrap();
        assert_eq!((load.wait, load.occupancy), (Duration::from_secs(2), 0.5));
        assert!((load.drained_per_second - 0.1).abs() < 1e-9, "six in a minute");
    }
}
