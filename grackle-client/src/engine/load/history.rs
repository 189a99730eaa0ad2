//! The load of one semaphore in the last two minutes, as this node saw it, and whether it is a convoy.
//!
//! All times are arguments, counted from one moment: so tests pass minutes without sleeping.

use std::time::Duration;

use crate::scripts::REORDER_WINDOW;
use crate::types::LoadSample;
use crate::wire::Convoy;

const NANOS_A_MICRO: i64 = 1_000;

/// The length of a bucket.
const BUCKET: Duration = Duration::from_secs(5);
/// How many are kept.
const BUCKETS: u64 = 24;
/// Buckets in a minute.
const MINUTE: u64 = 12;
/// Buckets in a quarter of it.
const QUARTER: u64 = MINUTE / 4;
/// Buckets that count as the present.
const RECENT: u64 = 4;
/// After that long without seeing a waiter, nobody waits.
const SILENCE: Duration = Duration::from_secs(BUCKET.as_secs() * RECENT);

/// A convoy begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConvoyChange {
    Begins(Convoy),
    Ends { after: Duration },
}

#[derive(Debug)]
pub(crate) struct LoadHistory {
    buckets: [Bucket; BUCKETS as usize],
    /// When something was observed last.
    seen_at: Duration,
    /// Since when somebody waits, as far as is known, and when a waiter was observed last.
    waiting_since: Option<Duration>,
    waited_at: Duration,
    /// The bucket in which `judge` looked last.
    judged: Option<u64>,
    convoy_since: Option<Duration>,
    /// That of the last state.
    last_activity_at: i64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    /// Counted from the start of time; none where it is unused.
    number: Option<u64>,
    waiting: i64,
    held: i64,
    permits: i64,
    somebody_waited: bool,
    wait: Duration,
    drained: i64,
}

impl LoadHistory {
    pub(crate) fn new() -> Self {
        Self {
            buckets: [Bucket::default(); BUCKETS as usize],
            seen_at: Duration::ZERO,
            waiting_since: None,
            waited_at: Duration::ZERO,
            judged: None,
            convoy_since: None,
            last_activity_at: 0,
        }
    }

    pub(crate) fn seen_at(&self) -> Duration {
        self.seen_at
    }

    /// Whether there is anything to show.
    pub(crate) fn is_recent(&self, now: Duration) -> bool {
        number_of(now).saturating_sub(number_of(self.seen_at)) < BUCKETS
    }

    /// Is a state newer than the last one? Replies and messages may overtake each other.
    pub(crate) fn is_newer(&mut self, last_activity_at: i64) -> bool {
        let older = self.last_activity_at - last_activity_at;
        if (1..REORDER_WINDOW * NANOS_A_MICRO).contains(&older) {
            return false;
        }
        self.last_activity_at = last_activity_at;
        true
    }

    /// The semaphore is in that state.
    pub(crate) fn observe(&mut self, now: Duration, waiting: i64, held: i64, permits: i64) {
        let bucket = self.bucket(now);
        (bucket.waiting, bucket.held, bucket.permits) = (waiting, held, permits);
        if waiting > 0 {
            self.somebody_waits(now);
        } else {
            self.waiting_since = None;
        }
    }

    /// `count` calls of this node wait, the first for `longest`.
    pub(crate) fn observe_waiting(&mut self, now: Duration, count: i64, longest: Duration) {
        let bucket = self.bucket(now);
        bucket.waiting = bucket.waiting.max(count);
        bucket.wait = bucket.wait.max(longest);
        self.somebody_waits(now);
    }

    /// A call of this node was granted `weight` permits after a wait.
    pub(crate) fn observe_grant(&mut self, now: Duration, waited: Duration, weight: i64) {
        let bucket = self.bucket(now);
        bucket.wait = bucket.wait.max(waited);
        bucket.drained = bucket.drained.saturating_add(weight);
    }

    /// Decides whether a convoy begins or ends, once a bucket and whenever the queue is empty.
    pub(crate) fn judge(&mut self, now: Duration) -> Option<ConvoyChange> {
        let number = number_of(now);
        let emptied = self.convoy_since.is_some() && self.waiting_since.is_none();
        if self.judged == Some(number) && !emptied {
            return None;
        }
        self.judged = Some(number);
        match self.convoy_since {
            None => {
                self.convoy_since = self.waiting_since.filter(|since| self.waits_grew(now, *since));
                self.convoy(now).map(ConvoyChange::Begins)
            }
            Some(since) if emptied || self.is_over(now) => {
                self.convoy_since = None;
                Some(ConvoyChange::Ends { after: now.saturating_sub(since) })
            }
            Some(_) => None,
        }
    }

    pub(crate) fn convoy(&self, now: Duration) -> Option<Convoy> {
        let since = self.convoy_since?;
        Some(Convoy {
            for_seconds: whole(now.saturating_sub(since)),
            wait_seconds: whole(self.longest_wait(now)),
        })
    }

    /// The longest wait of the last 20 s.
    pub(crate) fn longest_wait(&self, now: Duration) -> Duration {
        self.longest_wait_in(number_of(now), RECENT)
    }

    /// Permits a second, over the last minute.
    pub(crate) fn drained_per_second(&self, now: Duration) -> f64 {
        let drained: i64 = self.last(number_of(now), MINUTE).map(|bucket| bucket.drained).sum();
        drained as f64 / (BUCKET * MINUTE as u32).as_secs_f64()
    }

    pub(crate) fn samples(&self, now: Duration) -> Vec<LoadSample> {
        let mut buckets: Vec<_> = self.last(number_of(now), BUCKETS).collect();
        buckets.sort_by_key(|bucket| bucket.number);
        buckets.into_iter().map(|bucket| bucket.sample(now)).collect()
    }

    fn somebody_waits(&mut self, now: Duration) {
        self.bucket(now).somebody_waited = true;
        if self.is_silent(now) {
            self.waiting_since = None;
        }
        self.waiting_since.get_or_insert(now);
        self.waited_at = self.waited_at.max(now);
    }

    fn is_silent(&self, now: Duration) -> bool {
        now.saturating_sub(self.waited_at) > SILENCE
    }

    fn bucket(&mut self, now: Duration) -> &mut Bucket {
        let number = number_of(now);
        self.seen_at = self.seen_at.max(now);
        let at = (number % BUCKETS) as usize;
        if self.buckets[at].number != Some(number) {
            // The last state stands until another one is observed.
            let before = self.last(number, BUCKETS).max_by_key(|bucket| bucket.number);
            let Bucket { waiting, held, permits, .. } = before.copied().unwrap_or_default();
            let fresh = Bucket::default();
            self.buckets[at] = Bucket { number: Some(number), waiting, held, permits, ..fresh };
        }
        &mut self.buckets[at]
    }

    /// The last `count` buckets up to `number`, without unused ones.
    fn last(&self, number: u64, count: u64) -> impl Iterator<Item = &Bucket> {
        let first = (number + 1).saturating_sub(count);
        self.buckets.iter().filter(move |bucket| {
            bucket.number.is_some_and(|this| (first..=number).contains(&this))
        })
    }

    fn longest_wait_in(&self, number: u64, count: u64) -> Duration {
        self.last(number, count).map(|bucket| bucket.wait).max().unwrap_or_default()
    }

    /// The longest wait in each quarter of the minute before this bucket.
    fn quarters(&self, number: u64) -> [Duration; 4] {
        [3, 2, 1, 0]
            .map(|back| self.longest_wait_in(number.saturating_sub(1 + back * QUARTER), QUARTER))
    }

    /// Did waits grow all through the minute that ends here?
    fn waits_grew(&self, now: Duration, waiting_since: Duration) -> bool {
        let number = number_of(now);
        let seen = |back: u64| {
            let end = number.saturating_sub(1 + back * QUARTER);
            self.last(end, QUARTER).any(|bucket| bucket.somebody_waited)
        };
        let waits = self.quarters(number);
        now.saturating_sub(waiting_since) >= BUCKET * MINUTE as u32
            && (0..4).all(seen)
            && waits.is_sorted()
            && waits[3] * 2 >= waits[0] * 3
            && !waits[3].is_zero()
    }

    fn is_over(&self, now: Duration) -> bool {
        let waits = self.quarters(number_of(now));
        waits[3] <= waits[0] || self.is_silent(now)
    }
}

impl Bucket {
    fn sample(&self, now: Duration) -> LoadSample {
        LoadSample {
            ago: now.saturating_sub(start_of(self.number.unwrap_or_default())),
            waiting_count: self.waiting,
            occupancy: if self.permits > 0 { self.held as f64 / self.permits as f64 } else { 0.0 },
            wait: self.wait,
            drained: self.drained,
        }
    }
}

fn number_of(now: Duration) -> u64 {
    now.as_secs() / BUCKET.as_secs()
}

fn start_of(number: u64) -> Duration {
    Duration::from_secs(number.saturating_mul(BUCKET.as_secs()))
}

fn whole(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_000;

    fn at(second: u64) -> Duration {
        Duration::from_secs(START + second)
    }

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A caller that waits from the start, as a sweeper observes it: every five seconds.
    fn wait(history: &mut LoadHistory, seconds: std::ops::Range<u64>) -> Vec<(u64, ConvoyChange)> {
        let mut changes = Vec::new();
        for second in seconds.step_by(5) {
            history.observe_waiting(at(second), 1, secs(second));
            changes.extend(history.judge(at(second)).map(|change| (second, change)));
        }
        changes
    }

    #[test]
    fn waits_that_grow_for_a_minute_are_one_convoy() {
        let mut history = LoadHistory::new();
        assert_eq!(wait(&mut history, 0..60), []);
        assert_eq!(history.convoy(at(59)), None);
        let changes = wait(&mut history, 60..300);
        let convoy = Convoy { for_seconds: 60, wait_seconds: 60 };
        assert_eq!(changes, [(60, ConvoyChange::Begins(convoy))]);
        let convoy = Convoy { for_seconds: 300, wait_seconds: 295 };
        assert_eq!(history.convoy(at(300)), Some(convoy));
    }

    #[test]
    fn a_queue_that_was_empty_for_a_moment_is_no_convoy() {
        let mut history = LoadHistory::new();
        wait(&mut history, 0..30);
        history.observe(at(31), 0, 5, 5);
        assert_eq!(wait(&mut history, 35..90), [], "not a minute since");
        assert_eq!(wait(&mut history, 90..105).len(), 1);
    }

    #[test]
    fn waits_that_do_not_grow_are_no_convoy() {
        let mut history = LoadHistory::new();
        for second in 0..600 {
            // Waits of 20 s and a little, up and down.
            let waited = Duration::from_millis(20_000 + second * 37 % 500);
            history.observe(at(second), 9, 5, 5);
            history.observe_grant(at(second), waited, 1);
            assert_eq!(history.judge(at(second)), None, "{second}");
        }
        let drained = history.drained_per_second(at(599));
        assert!((drained - 1.0).abs() < 0.1, "{drained}");
    }

    #[test]
    fn a_queue_that_is_served_too_slowly_is_a_convoy() {
        let mut history = LoadHistory::new();
        let mut changes = Vec::new();
        for second in 0..120 {
            history.observe(at(second), 10 + second.cast_signed(), 5, 5);
            history.observe_grant(at(second), Duration::from_millis(5_000 + second * 200), 1);
            changes.extend(history.judge(at(second)));
        }
        assert!(matches!(changes[..], [ConvoyChange::Begins(_)]), "{changes:?}");
    }

    #[test]
    fn it_ends_when_the_queue_is_empty() {
        let mut history = LoadHistory::new();
        wait(&mut history, 0..100);
        history.observe(at(97), 3, 5, 5);
        assert_eq!(history.judge(at(97)), None);
        history.observe(at(98), 0, 4, 5);
        assert_eq!(history.judge(at(98)), Some(ConvoyChange::Ends { after: secs(98) }));
        assert_eq!((history.judge(at(98)), history.convoy(at(98))), (None, None));
    }

    #[test]
    fn it_ends_when_its_waits_grow_no_more() {
        let mut history = LoadHistory::new();
        wait(&mut history, 0..100);
        let mut changes = Vec::new();
        for second in 100..170 {
            history.observe(at(second), 9, 5, 5);
            history.observe_grant(at(second), secs(30), 1);
            changes.extend(history.judge(at(second)));
        }
        assert!(matches!(changes[..], [ConvoyChange::Ends { .. }]), "{changes:?}");
    }

    #[test]
    fn it_ends_when_nobody_is_seen_to_wait_any_more() {
        let mut history = LoadHistory::new();
        wait(&mut history, 0..100);
        let ends = (100..200).find(|second| history.judge(at(*second)).is_some());
        assert!(ends.is_some_and(|second| (115..=125).contains(&second)), "{ends:?}");
    }

    #[test]
    fn an_older_state_does_not_count_unless_the_clock_was_set_back() {
        let mut history = LoadHistory::new();
        assert!(history.is_newer(5_000_000_000));
        assert!(!history.is_newer(4_999_999_999));
        assert!(history.is_newer(5_000_000_000), "of the same moment: the later in order");
        assert!(history.is_newer(1_000_000_000), "more than a second back");
        assert!(!history.is_newer(999_999_999));
    }

    #[test]
    fn a_history_without_samples_is_not_recent() {
        let mut history = LoadHistory::new();
        history.observe(Duration::from_millis(4_900), 7, 4, 8);
        let late = Duration::from_millis(124_800);
        assert_eq!((history.samples(late), history.is_recent(late)), (vec![], false));
    }

    #[test]
    fn samples_cover_two_minutes_and_the_last_state_stands() {
        let mut history = LoadHistory::new();
        history.observe(at(0), 7, 4, 8);
        for second in 1..300 {
            history.observe_grant(at(second), secs(1), 2);
        }
        let samples = history.samples(at(299));
        assert_eq!(samples.len(), 24);
        assert!(samples.is_sorted_by(|a, b| a.ago > b.ago));
        assert_eq!((samples[0].ago, samples[23].ago), (secs(119), secs(4)));
        assert!(samples.iter().all(|sample| sample.drained == 10 && sample.waiting_count == 7));
        assert!(samples.iter().all(|sample| sample.occupancy == 0.5));
        assert_eq!(history.drained_per_second(at(299)), 2.0);
        assert!(history.is_recent(at(400)) && !history.is_recent(at(420)));
        assert_eq!(history.samples(at(500)), []);
    }
}
