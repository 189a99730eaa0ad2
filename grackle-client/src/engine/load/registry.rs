//! The series of the semaphores that this node has to do with: so many and no more.
//!
//! Fed by what reaches the node anyway, so it asks Redis nothing, and nothing happens when nothing
//! does.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::load::history::{Series, Turn};
use crate::types::{SemaphoreLoad, SemaphoreName};
use crate::wire::{Convoy, Semaphore};

#[derive(Debug)]
pub(crate) struct Convoys {
    began: Instant,
    /// So many series; the ones that were seen last.
    most: usize,
    series: Mutex<HashMap<SemaphoreName, Series>>,
}

/// The calls of this node that wait for one semaphore.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    pub(crate) count: usize,
    pub(crate) since: Instant,
}

impl Convoys {
    pub(crate) fn new(most: usize) -> Self {
        Self { began: Instant::now(), most, series: Mutex::default() }
    }

    /// A state came by.
    pub(crate) fn state(&self, namespace: &str, state: &Semaphore) {
        let now = self.began.elapsed();
        let Semaphore { waiting_count, active_holds, permits, last_activity_at, .. } = *state;
        self.note(now, namespace, &state.name, |series| {
            if !series.takes(last_activity_at) {
                return;
            }
            series.state(now, waiting_count, active_holds, permits);
        });
    }

    /// A call of this node was granted what it waited for.
    pub(crate) fn granted(&self, namespace: &str, name: &str, waited: Duration, weight: i64) {
        let now = self.began.elapsed();
        self.note(now, namespace, name, |series| series.granted(now, waited, weight));
    }

    /// Looks at a namespace, and at those of this node's calls that wait there, by semaphore.
    pub(crate) fn beat(&self, namespace: &str, crowds: HashMap<String, Crowd>) {
        let now = self.began.elapsed();
        for (name, Crowd { count, since }) in crowds {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.note(now, namespace, &name, |series| series.waits(now, count, since.elapsed()));
        }
        let mut turns = Vec::new();
        for (name, series) in self.series().iter_mut() {
            if name.namespace == namespace {
                turns.extend(series.judge(now).map(|turn| (name.clone(), turn)));
            }
        }
        turns.iter().for_each(|(name, turn)| log(name, *turn));
    }

    pub(crate) fn convoy(&self, namespace: &str, name: &str) -> Option<Convoy> {
        let (now, name) = (self.began.elapsed(), full(namespace, name));
        let mut all = self.series();
        let series = all.get_mut(&name)?;
        let (turn, convoy) = (series.judge(now), series.convoy(now));
        drop(all);
        if let Some(turn) = turn {
            log(&name, turn);
        }
        convoy
    }

    pub(crate) fn load(&self, namespace: &str, name: &str) -> Option<SemaphoreLoad> {
        let (now, name) = (self.began.elapsed(), full(namespace, name));
        let all = self.series();
        all.get(&name).filter(|series| series.is_recent(now)).map(|series| load(&name, series, now))
    }

    /// The busiest first: convoys, then by the longest queue, then by what drains from it.
    pub(crate) fn busiest(&self, most: usize) -> Vec<SemaphoreLoad> {
        let now = self.began.elapsed();
        let mut turns = Vec::new();
        let mut all = self.series();
        for (name, series) in all.iter_mut() {
            turns.extend(series.judge(now).map(|turn| (name.clone(), turn)));
        }
        all.retain(|_, series| series.is_recent(now));
        let mut loads: Vec<_> = all.iter().map(|(name, series)| load(name, series, now)).collect();
        drop(all);
        turns.iter().for_each(|(name, turn)| log(name, *turn));
        loads.sort_by_cached_key(rank);
        loads.truncate(most);
        loads
    }

    fn note(&self, now: Duration, namespace: &str, name: &str, note: impl FnOnce(&mut Series)) {
        let name = full(namespace, name);
        let mut all = self.series();
        if all.len() >= self.most && !all.contains_key(&name) {
            make_room(&mut all);
        }
        let series = all.entry(name.clone()).or_insert_with(Series::new);
        note(series);
        let turn = series.judge(now);
        drop(all);
        if let Some(turn) = turn {
            log(&name, turn);
        }
    }

    fn series(&self) -> MutexGuard<'_, HashMap<SemaphoreName, Series>> {
        // Nothing panics while it holds the lock half-way through a change.
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the tenth that was seen the longest ago: one by one, each newcomer would look at all.
fn make_room(all: &mut HashMap<SemaphoreName, Series>) {
    let mut times: Vec<_> = all.values().map(Series::seen_at).collect();
    let tenth = times.len() / 10;
    let (_, limit, _) = times.select_nth_unstable(tenth);
    let (limit, mut left) = (*limit, tenth + 1);
    all.retain(|_, series| {
        let goes = left > 0 && series.seen_at() <= limit;
        left -= usize::from(goes);
        !goes
    });
}

fn load(name: &SemaphoreName, series: &Series, now: Duration) -> SemaphoreLoad {
    let samples = series.samples(now);
    let last = samples.last().cloned().unwrap_or_default();
    SemaphoreLoad {
        namespace_name: name.namespace.clone(),
        semaphore_name: name.name.clone(),
        waiting_count: last.waiting_count,
        occupancy: last.occupancy,
        wait: series.wait(now),
        drained_per_second: series.drained_per_second(now),
        convoy: series.convoy(now),
        samples,
    }
}

/// Smaller for the busier. The names at last, so that equals keep their order.
fn rank(load: &SemaphoreLoad) -> impl Ord + use<> {
    let longest = load.samples.iter().map(|sample| sample.waiting_count).max().unwrap_or_default();
    let drained: i64 = load.samples.iter().map(|sample| sample.drained).sum();
    let names = (load.namespace_name.clone(), load.semaphore_name.clone());
    (load.convoy.is_none(), Reverse(longest), Reverse(drained), names)
}

fn log(SemaphoreName { namespace, name }: &SemaphoreName, turn: Turn) {
    match turn {
        Turn::Begins(Convoy { for_seconds, wait_seconds }) => tracing::warn!(
            namespace,
            semaphore = name,
            "a convoy: its queue was not empty for {for_seconds} s, and waits grew to \
             {wait_seconds} s; more comes than the permits let through"
        ),
        Turn::Ends { after } => tracing::info!(
            namespace,
            semaphore = name,
            "the convoy has ended, after {} s",
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
    fn there_are_never_more_series_than_that_and_the_latest_stay() {
        let convoys = Convoys::new(50);
        for name in 0..1_000 {
            convoys.state("ns", &state(name, 0));
            // One that is always in use.
            convoys.state("ns", &state(0, 0));
            assert!(convoys.series().len() <= 50);
        }
        assert!(convoys.load("ns", "s0").is_some());
        assert!(convoys.load("ns", "s999").is_some());
        assert!(convoys.load("ns", "s500").is_none());
    }

    #[test]
    fn a_convoy_is_seen_by_the_waits_of_this_nodes_callers_and_ends_with_them() {
        let mut convoys = Convoys::new(50);
        let since = Instant::now();
        let pass = |convoys: &mut Convoys, seconds: u64, count: usize| {
            for _ in 0..seconds / 5 {
                convoys.began -= Duration::from_secs(5);
                let crowd = Crowd { count, since: since - convoys.began.elapsed() };
                let crowds = (count > 0).then(|| ("s1".to_owned(), crowd)).into_iter().collect();
                convoys.beat("ns", crowds);
            }
        };
        pass(&mut convoys, 60, 3);
        assert_eq!(convoys.convoy("ns", "s1"), None);
        pass(&mut convoys, 30, 3);
        let convoy = convoys.convoy("ns", "s1").unwrap();
        assert!((60..=90).contains(&convoy.for_seconds), "{convoy:?}");
        assert_eq!(convoys.busiest(9)[0].convoy, Some(convoy));
        assert_eq!(convoys.convoy("other", "s1"), None);
        pass(&mut convoys, 15, 0);
        assert!(convoys.convoy("ns", "s1").is_some(), "they may be about to ask again");
        pass(&mut convoys, 15, 0);
        assert_eq!(convoys.convoy("ns", "s1"), None);
    }

    #[test]
    fn the_busiest_come_first_and_no_more_than_asked_for() {
        let convoys = Convoys::new(50);
        for (name, waiting) in [(1, 0), (2, 9), (3, 4)] {
            convoys.state("ns", &state(name, waiting));
        }
        convoys.granted("ns", "s1", Duration::from_secs(2), 6);
        let names = |most| {
            let loads = convoys.busiest(most);
            loads.into_iter().map(|load| load.semaphore_name).collect::<Vec<_>>()
        };
        assert_eq!(names(9), ["s2", "s3", "s1"]);
        assert_eq!(names(2), ["s2", "s3"]);
        let load = convoys.load("ns", "s1").unwrap();
        assert_eq!((load.wait, load.occupancy), (Duration::from_secs(2), 0.5));
        assert!((load.drained_per_second - 0.1).abs() < 1e-9, "six in a minute");
    }
}
