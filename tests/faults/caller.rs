//! A caller: takes, waits, holds, changes its mind, gives back, forgets; and writes down all of it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use fastrand::Rng;
use grackle_client::wire::{
    AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse, CreateSemaphoreLeaseRequest,
    ReleaseSemaphoreRequest, RevokeSemaphoreLeaseRequest,
};

use crate::fleet::{Fleet, PERMITS};
use crate::history::{Acquire, End, History, Hold, time_of_day};
use crate::node::{Failure, Node};
use grackle_test_support::TestNamespace;

/// Longer than any round.
const LONG_SECONDS: i64 = 3_600;
const TIMEOUTS: [u64; 6] = [0, 0, 1, 3, 10, 10];
/// Before it asks again where there was no answer.
const PAUSE: Duration = Duration::from_millis(20);

/// What callers of a round do beside the usual.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    /// In a hundred acquires, so many are not waited for.
    pub(crate) drops: u32,
    /// Redis' clock is that of this process, so the end of a lease can be told.
    pub(crate) steady_clock: bool,
}

/// What all callers of a round share.
pub(crate) struct Common {
    pub(crate) nodes: Vec<Node>,
    pub(crate) habits: Habits,
    pub(crate) operations: AtomicU64,
    pub(crate) stop: AtomicBool,
}

pub(crate) struct Caller {
    common: Arc<Common>,
    home: usize,
    rng: Rng,
    lease: Lease,
    history: History,
}

struct Lease {
    id: String,
    /// None where it outlives the round.
    ends: Option<Instant>,
    /// What became of a call under it is not known, and it may still be under way. Then the same
    /// may be asked for again, or that it be given back, but nothing else under this lease.
    uncertain: bool,
}

impl Caller {
    /// Calls until it is told to stop.
    pub(crate) async fn run(common: Arc<Common>, home: usize, seed: u64) -> History {
        let lease = Lease { id: String::new(), ends: None, uncertain: false };
        let rng = Rng::with_seed(seed);
        let mut caller = Self { common, home, rng, lease, history: History::default() };
        caller.renew(None).await;
        while !caller.common.stop.load(Ordering::Relaxed) {
            caller.visit().await;
        }
        caller.history
    }

    async fn visit(&mut self) {
        let semaphore = self.rng.usize(..PERMITS.len());
        let weight = self.rng.i64(1..=PERMITS[semaphore]);
        let timeout = Duration::from_secs(TIMEOUTS[self.rng.usize(..TIMEOUTS.len())]);
        match self.rng.u16(..1_500) {
            0 => self.die(semaphore, weight, timeout).await,
            _ => self.take(semaphore, weight, timeout).await,
        }
        // What is still under way may not meet anything that comes later.
        if self.lease.uncertain {
            self.revoke().await;
        }
    }

    async fn take(&mut self, semaphore: usize, weight: i64, timeout: Duration) {
        let repeats = self.rng.bool();
        loop {
            match self.acquire(semaphore, weight, timeout, false).await {
                End::Acquired { token, .. } => return self.hold(semaphore, weight, token).await,
                End::Unavailable | End::TimedOut => return,
                End::Gone => return self.wrong("a lease is gone before its end"),
                // The same again: at another node, it finds its place, or its grant.
                End::Dropped | End::Unknown if repeats => self.lease.uncertain = true,
                End::Dropped | End::Unknown => {
                    self.lease.uncertain = true;
                    return self.give_back(semaphore).await;
                }
            }
        }
    }

    /// As a caller that dies while it holds: its lease is short, and nobody gives anything back.
    async fn die(&mut self, semaphore: usize, weight: i64, timeout: Duration) {
        let seconds = self.rng.i64(1..=2);
        self.renew(Some(seconds)).await;
        if let End::Acquired { token, .. } = self.acquire(semaphore, weight, timeout, false).await {
            self.note_hold(semaphore, weight, token, None);
        }
        self.renew(None).await;
    }

    async fn hold(&mut self, semaphore: usize, mut weight: i64, token: i64) {
        self.linger().await;
        if self.rng.u8(..5) == 0 && !self.lease.uncertain {
            match self.change(semaphore, weight, token).await {
                Some(changed) => weight = changed,
                None => return self.give_back(semaphore).await,
            }
        }
        self.note_hold(semaphore, weight, token, Some(Instant::now()));
        if self.rng.u8(..10) == 0 { self.revoke().await } else { self.give_back(semaphore).await }
    }

    /// Asks for another weight; the weight that it holds then, if that is known.
    async fn change(&mut self, semaphore: usize, held: i64, token: i64) -> Option<i64> {
        let wanted = self.rng.i64(1..=PERMITS[semaphore]);
        self.note_hold(semaphore, held, token, Some(Instant::now()));
        // Seldom: whoever waits with something in his hands holds up everybody.
        let timeout = Duration::from_secs(u64::from(self.rng.u8(..200) == 0));
        let end = self.acquire(semaphore, wanted, timeout, true).await;
        let asked = self.history.acquires.last().map(|acquire| (acquire.begun, acquire.ended));
        match end {
            End::Acquired { token: new, .. } if new != token => {
                self.wrong("a hold that changes its weight has another token");
                None
            }
            // Meanwhile it held what it had, or what it wanted.
            End::Acquired { .. } | End::Unavailable | End::TimedOut => {
                let (from, until) = asked?;
                let weight = held.min(wanted);
                let lease = self.lease.id.clone();
                self.history.holds.push(Hold { semaphore, lease, token, weight, from, until });
                Some(if matches!(end, End::Acquired { .. }) { wanted } else { held })
            }
            End::Gone => {
                self.wrong("a lease is gone before its end");
                None
            }
            End::Dropped | End::Unknown => {
                self.lease.uncertain = true;
                None
            }
        }
    }

    /// From the last answer until then, or until the lease may have ended.
    fn note_hold(&mut self, semaphore: usize, weight: i64, token: i64, until: Option<Instant>) {
        let Some(from) = self.history.acquires.last().map(|acquire| acquire.ended) else { return };
        let ends = self.lease.ends.filter(|_| self.common.habits.steady_clock);
        let until = until.or(ends).unwrap_or(from);
        if until > from {
            let lease = self.lease.id.clone();
            self.history.holds.push(Hold { semaphore, lease, token, weight, from, until });
        }
    }

    async fn linger(&mut self) {
        match self.rng.u8(..10) {
            0..=5 => tokio::task::yield_now().await,
            _ => tokio::time::sleep(Duration::from_micros(self.rng.u64(..3_000))).await,
        }
    }

    async fn acquire(
        &mut self,
        semaphore: usize,
        weight: i64,
        timeout: Duration,
        again: bool,
    ) -> End {
        let request = AcquireSemaphoreRequest {
            namespace_name: TestNamespace::NAMESPACE.to_owned(),
            semaphore_name: Fleet::semaphore(semaphore),
            lease_id: self.lease.id.clone(),
            weight,
            timeout_seconds: i64::try_from(timeout.as_secs()).expect("short"),
            ..Default::default()
        };
        let uncertain = self.lease.uncertain;
        let (index, node) = self.node();
        let begun = Instant::now();
        let answer = match self.patience() {
            Patience::Endless => Some(node.acquire(request).await),
            Patience::Polls(polls) => polled(polls, node.acquire(request)).await,
            Patience::Time(time) => tokio::time::timeout(time, node.acquire(request)).await.ok(),
        };
        let (ended, end) = (Instant::now(), self.end(answer));
        self.history.acquires.push(Acquire {
            node: index,
            semaphore,
            lease: self.lease.id.clone(),
            timeout,
            begun,
            ended,
            end,
            again,
            repeated: uncertain,
        });
        end
    }

    fn end(&mut self, answer: Option<Result<AcquireSemaphoreResponse, Failure>>) -> End {
        match answer {
            None => End::Dropped,
            Some(Ok(answer)) => match answer.outcome {
                AcquireOutcome::Acquired => {
                    End::Acquired { token: answer.fencing_token, at: time_of_day() }
                }
                AcquireOutcome::TimedOut => End::TimedOut,
                _ => End::Unavailable,
            },
            Some(Err(Failure::Gone)) => End::Gone,
            Some(Err(Failure::Unknown)) => End::Unknown,
            Some(Err(Failure::Wrong(what))) => {
                self.wrong(&what);
                End::Unknown
            }
        }
    }

    fn patience(&mut self) -> Patience {
        match self.rng.u32(..100) < self.common.habits.drops {
            false => Patience::Endless,
            true if self.rng.bool() => Patience::Polls(self.rng.usize(..40)),
            true => Patience::Time(Duration::from_micros(self.rng.u64(..20_000))),
        }
    }

    /// Releases, and asks again until that is answered.
    async fn give_back(&mut self, semaphore: usize) {
        let request = ReleaseSemaphoreRequest {
            namespace_name: TestNamespace::NAMESPACE.to_owned(),
            semaphore_name: Fleet::semaphore(semaphore),
            lease_id: self.lease.id.clone(),
        };
        loop {
            match self.node().1.release(request.clone()).await {
                Ok(_) => return,
                Err(Failure::Unknown) => {
                    self.lease.uncertain = true;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Failure::Gone) => return self.wrong("a lease is gone before its end"),
                Err(Failure::Wrong(what)) => return self.wrong(&what),
            }
        }
    }

    /// Ends the lease with all that it holds, and takes another.
    async fn revoke(&mut self) {
        let request = RevokeSemaphoreLeaseRequest {
            namespace_name: TestNamespace::NAMESPACE.to_owned(),
            lease_id: self.lease.id.clone(),
        };
        loop {
            match self.node().1.revoke_lease(request.clone()).await {
                // Gone: the answer to the call before was lost.
                Ok(()) | Err(Failure::Gone) => break,
                Err(Failure::Unknown) => tokio::time::sleep(PAUSE).await,
                Err(Failure::Wrong(what)) => return self.wrong(&what),
            }
        }
        self.renew(None).await;
    }

    async fn renew(&mut self, seconds: Option<i64>) {
        loop {
            let begun = Instant::now();
            let request = CreateSemaphoreLeaseRequest {
                namespace_name: TestNamespace::NAMESPACE.to_owned(),
                process_id: format!("caller-{}", self.home),
                ttl_seconds: seconds.unwrap_or(LONG_SECONDS),
                ..Default::default()
            };
            match self.node().1.create_lease(request).await {
                Ok(made) => {
                    let ends = seconds.map(|s| begun + Duration::from_secs(s.unsigned_abs()));
                    let id = made.lease.lease_id;
                    self.lease = Lease { id, ends, uncertain: false };
                    return;
                }
                Err(Failure::Unknown) => tokio::time::sleep(PAUSE).await,
                Err(Failure::Gone) => return self.wrong("the namespace is gone"),
                Err(Failure::Wrong(what)) => return self.wrong(&what),
            }
        }
    }

    /// Mostly the caller's own; where that one does not answer, another does in the end.
    fn node(&mut self) -> (usize, Node) {
        self.common.operations.fetch_add(1, Ordering::Relaxed);
        let nodes = &self.common.nodes;
        let index = if self.rng.u8(..5) == 0 { self.rng.usize(..nodes.len()) } else { self.home };
        (index, nodes[index].clone())
    }

    fn wrong(&mut self, what: &str) {
        let said = format!("{what}: {} after {:?}", self.lease.id, self.history.acquires.last());
        self.history.wrong.push(said);
    }
}

/// How long a caller waits for its answer.
enum Patience {
    Endless,
    Polls(usize),
    Time(Duration),
}

/// The answer, if it is there within so many polls.
async fn polled<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
        if let Poll::Ready(answer) = polled {
            return Some(answer);
        }
        tokio::task::yield_now().await;
    }
    None
}
