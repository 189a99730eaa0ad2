//! What one node sees of one semaphore: a few minutes in a few buckets, and whether it is a convoy.
//!
//! Every time is a distance from one moment, and an argument: a test walks minutes without sleeping.

use std::time::Duration;

use crate::scripts::REORDER_WINDOW;
use crate::types::LoadSample;
use crate::wire::Convoy;

const NANOS_A_MICRO: i64 = 1_000;

/// How much of the time a bucket is.
const BUCKET: Duration = Duration::from_secs(5);
/// So many are kept.
const BUCKETS: u64 = 24;
/// A minute, in buckets.
const MINUTE: u64 = 12;
/// A quarter of it.
const QUARTER: u64 = MINUTE / 4;
/// What is the present, in buckets.
const LATELY: u64 = 4;
/// Nobody seen to wait for that long is nobody waiting.
const SILENCE: Duration = Duration::from_secs(BUCKET.as_secs() * LATELY);

/// Something to tell of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Begins(Convoy),
    Ends { after: Duration },
}

#[derive(Debug)]
pub(crate) struct Series {
    buckets: [Bucket; BUCKETS as usize],
    /// When anything was seen last.
    seen_at: Duration,
    /// Since when somebody waits, as far as is known, and when that was seen last.
    waiting_since: Option<Duration>,
    waited_at: Duration,
    /// In which bucket it was judged last.
    judged: Option<u64>,
    convoy_since: Option<Duration>,
    /// Of the last state, in nanoseconds by Redis' clock.
    last_activity_at: i64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    /// Which of all buckets of all time it is; none yet.
    number: Option<u64>,
    waiting: i64,
    held: i64,
    permits: i64,
    somebody_waited: bool,
    wait: Duration,
    drained: i64,
}

impl Series {
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

    /// Notes when the semaphore was in a state; false where a later one was seen already. Replies and
    /// messages come by two ways.
    pub(crate) fn takes(&mut self, last_activity_at: i64) -> bool {
        let older = self.last_activity_at - last_activity_at;
        if (1..REORDER_WINDOW * NANOS_A_MICRO).contains(&older) {
            return false;
        }
        self.last_activity_at = last_activity_at;
        true
    }

    /// A state of the semaphore.
    pub(crate) fn state(&mut self, now: Duration, waiting: i64, held: i64, permits: i64) {
        let bucket = self.bucket(now);
        (bucket.waiting, bucket.held, bucket.permits) = (waiting, held, permits);
        if waiting > 0 {
            self.somebody_waits(now);
        } else {
            self.waiting_since = None;
        }
    }

    /// So many callers of this node wait, the first for that long.
    pub(crate) fn waits(&mut self, now: Duration, count: i64, longest: Duration) {
        let bucket = self.bucket(now);
        bucket.waiting = bucket.waiting.max(count);
        bucket.wait = bucket.wait.max(longest);
        self.somebody_waits(now);
    }

    /// A caller of this node was granted what it waited for.
    pub(crate) fn granted(&mut self, now: Duration, waited: Duration, weight: i64) {
        let bucket = self.bucket(now);
        bucket.wait = bucket.wait.max(waited);
        bucket.drained = bucket.drained.saturating_add(weight);
    }

    /// Looks whether a convoy begins or ends, once a bucket and whenever the queue is empty.
    pub(crate) fn judge(&mut self, now: Duration) -> Option<Turn> {
        let number = number_of(now);
        let emptied = self.convoy_since.is_some() && self.waiting_since.is_none();
        if self.judged == Some(number) && !emptied {
            return None;
        }
        self.judged = Some(number);
        match self.convoy_since {
            None => {
                self.convoy_since = self.waiting_since.filter(|since| self.lines_up(now, *since));
                self.convoy(now).map(Turn::Begins)
            }
            Some(since) if emptied || self.is_over(now) => {
                self.convoy_since = None;
                Some(Turn::Ends { after: now.saturating_sub(since) })
            }
            Some(_) => None,
        }
    }

    pub(crate) fn convoy(&self, now: Duration) -> Option<Convoy> {
        let since = self.convoy_since?;
        Some(Convoy {
            for_seconds: whole(now.saturating_sub(since)),
            wait_seconds: whole(self.wait(now)),
        })
    }

    /// The longest wait of late.
    pub(crate) fn wait(&self, now: Duration) -> Duration {
        self.longest_wait(number_of(now), LATELY)
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
            // What was seen last stands until something else is seen.
            let before = self.last(number, BUCKETS).max_by_key(|bucket| bucket.number);
            let Bucket { waiting, held, permits, .. } = before.copied().unwrap_or_default();
            let fresh = Bucket::default();
            self.buckets[at] = Bucket { number: Some(number), waiting, held, permits, ..fresh };
        }
        &mut self.buckets[at]
    }

    /// The last so many that were seen of, up to this one.
    fn last(&self, number: u64, count: u64) -> impl Iterator<Item = &Bucket> {
        let first = (number + 1).saturating_sub(count);
        self.buckets.iter().filter(move |bucket| {
            bucket.number.is_some_and(|this| (first..=number).contains(&this))
        })
    }

    fn longest_wait(&self, number: u64, count: u64) -> Duration {
        self.last(number, count).map(|bucket| bucket.wait).max().unwrap_or_default()
    }

    /// The longest wait in each quarter of the minute before this bucket.
    fn quarters(&self, number: u64) -> [Duration; 4] {
        [3, 2, 1, 0]
            .map(|back| self.longest_wait(number.saturating_sub(1 + back * QUARTER), QUARTER))
    }

    /// Is the minute that ends here that of a convoy?
    fn lines_up(&self, now: Duration, waiting_since: Duration) -> bool {
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

    /// A caller that waits from the start, as a patrol sees it: every five seconds.
    fn wait(series: &mut Series, seconds: std::ops::Range<u64>) -> Vec<(u64, Turn)> {
        let mut turns = Vec::new();
        for second in seconds.step_by(5) {
            series.waits(at(second), 1, secs(second));
            turns.extend(series.judge(at(second)).map(|turn| (second, turn)));
        }
        turns
    }

    #[test]
    fn waits_that_grow_for_a_minute_are_a_convoy_once() {
        let mut series = Series::new();
        assert_eq!(wait(&mut series, 0..60), []);
        assert_eq!(series.convoy(at(59)), None);
        let turns = wait(&mut series, 60..300);
        let convoy = Convoy { for_seconds: 60, wait_seconds: 60 };
        assert_eq!(turns, [(60, Turn::Begins(convoy))]);
        let convoy = Convoy { for_seconds: 300, wait_seconds: 295 };
        assert_eq!(series.convoy(at(300)), Some(convoy));
    }

    #[test]
    fn a_queue_that_was_empty_for_a_moment_is_none() {
        let mut series = Series::new();
        wait(&mut series, 0..30);
        series.state(at(31), 0, 5, 5);
        assert_eq!(wait(&mut series, 35..90), [], "not a minute since");
        assert_eq!(wait(&mut series, 90..105).len(), 1);
    }

    #[test]
    fn waits_that_stay_as_they_are_are_none() {
        let mut series = Series::new();
        for second in 0..600 {
            // Waits of 20 s and a little, up and down.
            let waited = Duration::from_millis(20_000 + second * 37 % 500);
            series.state(at(second), 9, 5, 5);
            series.granted(at(second), waited, 1);
            assert_eq!(series.judge(at(second)), None, "{second}");
        }
        assert!((series.drained_per_second(at(599)) - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_queue_that_is_served_too_slowly_is_one() {
        let mut series = Series::new();
        let mut turns = Vec::new();
        for second in 0..120 {
            series.state(at(second), 10 + second.cast_signed(), 5, 5);
            series.granted(at(second), Duration::from_millis(5_000 + second * 200), 1);
            turns.extend(series.judge(at(second)));
        }
        assert!(matches!(turns[..], [Turn::Begins(_)]), "{turns:?}");
    }

    #[test]
    fn it_ends_as_the_queue_is_seen_empty() {
        let mut series = Series::new();
        wait(&mut series, 0..100);
        series.state(at(97), 3, 5, 5);
        assert_eq!(series.judge(at(97)), None);
        series.state(at(98), 0, 4, 5);
        assert_eq!(series.judge(at(98)), Some(Turn::Ends { after: secs(98) }));
        assert_eq!((series.judge(at(98)), series.convoy(at(98))), (None, None));
    }

    #[test]
    fn it_ends_as_its_waits_grow_no_more() {
        let mut series = Series::new();
        wait(&mut series, 0..100);
        let mut turns = Vec::new();
        for second in 100..170 {
            series.state(at(second), 9, 5, 5);
            series.granted(at(second), secs(30), 1);
            turns.extend(series.judge(at(second)));
        }
        assert!(matches!(turns[..], [Turn::Ends { .. }]), "{turns:?}");
    }

    #[test]
    fn it_ends_when_nobody_is_seen_to_wait_any_more() {
        let mut series = Series::new();
        wait(&mut series, 0..100);
        let ends = (100..200).find(|second| series.judge(at(*second)).is_some());
        assert!(ends.is_some_and(|second| (115..=125).contains(&second)), "{ends:?}");
    }

    #[test]
    fn a_state_that_a_later_one_overtook_does_not_count_and_a_clock_set_back_hides_none() {
        let mut series = Series::new();
        assert!(series.takes(5_000_000_000));
        assert!(!series.takes(4_999_999_999));
        assert!(series.takes(5_000_000_000), "of the same moment: the later in order");
        assert!(series.takes(1_000_000_000), "more than a second back");
        assert!(!series.takes(999_999_999));
    }

    #[test]
    fn what_has_no_sample_any_more_is_not_recent() {
        let mut series = Series::new();
        series.state(Duration::from_millis(4_900), 7, 4, 8);
        let late = Duration::from_millis(124_800);
        assert_eq!((series.samples(late), series.is_recent(late)), (vec![], false));
    }

    #[test]
    fn samples_are_of_two_minutes_and_what_was_seen_last_stands() {
        let mut series = Series::new();
        series.state(at(0), 7, 4, 8);
        for second in 1..300 {
            series.granted(at(second), secs(1), 2);
        }
        let samples = series.samples(at(299));
        assert_eq!(samples.len(), 24);
        assert!(samples.is_sorted_by(|a, b| a.ago > b.ago));
        assert_eq!((samples[0].ago, samples[23].ago), (secs(119), secs(4)));
        assert!(samples.iter().all(|sample| sample.drained == 10 && sample.waiting_count == 7));
        assert!(samples.iter().all(|sample| sample.occupancy == 0.5));
        assert_eq!(series.drained_per_second(at(299)), 2.0);
        assert!(series.is_recent(at(400)) && !series.is_recent(at(420)));
        assert_eq!(series.samples(at(500)), []);
    }
}
