//! The calls of this node that wait: a task and an entry in this map each, and nothing else.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use crate::engine::load::registry::Crowd;
use crate::error::Error;
use crate::scripts::{AcquireReply, Call};

/// A node that waits in a namespace sweeps it at least that often; its alive mark, which each sweep
/// renews, is good for three times as long (`ALIVE_FOR` in `lua/shared/wait.lua`).
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// What a waiting call hears.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The end of its wait.
    Reply(Box<AcquireReply>),
    /// Its end, by an error.
    Failed(Error),
    /// Redis knows nothing of it: ask again.
    AskAgain,
}

/// Where a waiting call hears it.
pub(crate) type Answered = oneshot::Receiver<Answer>;

#[derive(Debug, Default)]
pub(crate) struct Waits {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    closing: bool,
    subscriptions: u64,
    calls: HashMap<String, Waiting>,
    /// Namespaces in which calls wait or a semaphore is watched, or lately did.
    spaces: HashMap<String, Space>,
}

impl State {
    /// Where the namespace is new to this node: when it has to be swept, for a patrol to follow.
    fn visit(&mut self, namespace: &str) -> Option<watch::Receiver<Instant>> {
        if self.spaces.contains_key(namespace) {
            return None;
        }
        let (sweep_at, follow) = watch::channel(Instant::now() + SWEEP_EVERY);
        self.spaces.insert(namespace.to_owned(), Space { heard_by: None, sweep_at });
        Some(follow)
    }
}

#[derive(Debug)]
struct Space {
    /// Which subscription hears its channels: they are counted; none, and nothing is heard.
    heard_by: Option<u64>,
    /// When this node has to sweep there.
    sweep_at: watch::Sender<Instant>,
}

#[derive(Debug)]
struct Waiting {
    namespace: String,
    call: Call,
    since: Instant,
    deadline: Instant,
    /// In Redis, as far as this node knows.
    queued: bool,
    answer: Option<oneshot::Sender<Answer>>,
}

impl Waits {
    /// Enters a call before it is sent: its answer may overtake the script's reply.
    pub(crate) fn enter(
        &self,
        namespace: &str,
        call: &Call,
        since: Instant,
        deadline: Instant,
    ) -> Result<Answered, Error> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        if state.closing {
            return Err(closing());
        }
        let waiting = Waiting {
            namespace: namespace.to_owned(),
            call: call.clone(),
            since,
            deadline,
            queued: false,
            answer: Some(sender),
        };
        state.calls.insert(call.ticket.clone(), waiting);
        Ok(receiver)
    }

    /// Notes that the call stands in Redis. Where its namespace is new to this node: when it has to
    /// be swept, for a patrol to follow.
    pub(crate) fn queued(&self, ticket: &str) -> Result<Option<watch::Receiver<Instant>>, Error> {
        let mut state = self.state();
        if state.closing {
            return Err(closing());
        }
        let Some(waiting) = state.calls.get_mut(ticket) else {
            return Ok(None);
        };
        waiting.queued = true;
        let namespace = waiting.namespace.clone();
        Ok(state.visit(&namespace))
    }

    /// A semaphore of the namespace is watched: as where a call waits.
    pub(crate) fn visit(&self, namespace: &str) -> Option<watch::Receiver<Instant>> {
        self.state().visit(namespace)
    }

    /// Brings the next sweep of a namespace forward, if it is later than that.
    pub(crate) fn sweep_within(&self, namespace: &str, micros: i64) {
        let within = u64::try_from(micros).map_or(SWEEP_EVERY, Duration::from_micros);
        let at = Instant::now() + within.min(SWEEP_EVERY);
        if let Some(space) = self.state().spaces.get(namespace) {
            space.sweep_at.send_if_modified(|next| {
                let sooner = at < *next;
                if sooner {
                    *next = at;
                }
                sooner
            });
        }
    }

    /// Puts the next sweep off: it begins now, and only what it finds brings it forward.
    pub(crate) fn sweep_begins(&self, namespace: &str, next: Duration) {
        if let Some(space) = self.state().spaces.get(namespace) {
            space.sweep_at.send_replace(Instant::now() + next);
        }
    }

    pub(crate) fn leave(&self, ticket: &str) {
        self.state().calls.remove(ticket);
    }

    pub(crate) fn answer(&self, ticket: &str, answer: Answer) {
        let waiting = match answer {
            Answer::AskAgain => self.state().calls.get_mut(ticket).and_then(|w| w.answer.take()),
            _ => self.state().calls.remove(ticket).and_then(|w| w.answer),
        };
        // The call may have ended meanwhile; then nobody waits for this.
        if let Some(sender) = waiting {
            let _ = sender.send(answer);
        }
    }

    /// How many calls stand in Redis for a namespace.
    pub(crate) fn count(&self, namespace: &str) -> usize {
        self.state().calls.values().filter(|w| w.queued && w.namespace == namespace).count()
    }

    /// The calls that stand in Redis for a namespace, the first to come first.
    pub(crate) fn in_namespace(&self, namespace: &str) -> Vec<Call> {
        let state = self.state();
        if state.closing {
            // They are being set aside: nobody is to bring them back from here.
            return Vec::new();
        }
        let here = |w: &&Waiting| w.queued && w.namespace == namespace;
        let mut waiting: Vec<_> = state.calls.values().filter(here).collect();
        waiting.sort_by_key(|w| w.since);
        waiting.into_iter().map(|w| w.call.clone()).collect()
    }

    /// The calls that stand in Redis for a namespace, by the semaphore that they wait for.
    pub(crate) fn crowds(&self, namespace: &str) -> HashMap<String, Crowd> {
        let mut crowds: HashMap<String, Crowd> = HashMap::new();
        let state = self.state();
        for w in state.calls.values().filter(|w| w.queued && w.namespace == namespace) {
            match crowds.get_mut(&w.call.semaphore) {
                Some(crowd) => {
                    crowd.count += 1;
                    crowd.since = crowd.since.min(w.since);
                }
                None => {
                    let crowd = Crowd { count: 1, since: w.since };
                    crowds.insert(w.call.semaphore.clone(), crowd);
                }
            }
        }
        crowds
    }

    /// The subscription that hears a namespace's channels, if one does.
    pub(crate) fn heard_by(&self, namespace: &str) -> Option<u64> {
        self.state().spaces.get(namespace).and_then(|space| space.heard_by)
    }

    /// Does a patrol sweep the namespace?
    pub(crate) fn knows(&self, namespace: &str) -> bool {
        self.state().spaces.contains_key(namespace)
    }

    pub(crate) fn next_subscription(&self) -> u64 {
        let mut state = self.state();
        state.subscriptions += 1;
        state.subscriptions
    }

    /// A subscription hears these namespaces from now on.
    pub(crate) fn hears<'a>(
        &self,
        namespaces: impl Iterator<Item = &'a String>,
        subscription: u64,
    ) {
        let mut state = self.state();
        for namespace in namespaces {
            if let Some(space) = state.spaces.get_mut(namespace) {
                space.heard_by = Some(subscription);
            }
        }
    }

    /// The subscription hears these namespaces no more; another may.
    pub(crate) fn deafen<'a>(
        &self,
        namespaces: impl Iterator<Item = &'a String>,
        subscription: u64,
    ) {
        let mut state = self.state();
        for namespace in namespaces {
            if let Some(space) = state.spaces.get_mut(namespace)
                && space.heard_by == Some(subscription)
            {
                space.heard_by = None;
            }
        }
    }

    /// Whoever hears the namespace, it is the wrong place by now.
    pub(crate) fn misplaced(&self, namespace: &str) {
        if let Some(space) = self.state().spaces.get_mut(namespace) {
            space.heard_by = None;
        }
    }

    /// Forgets a namespace in which no call waits, if `idle` says so too; `then` runs before any call
    /// can wait there anew.
    pub(crate) fn forget(
        &self,
        namespace: &str,
        idle: impl FnOnce() -> bool,
        then: impl FnOnce(),
    ) -> bool {
        let mut state = self.state();
        let idle = !state.calls.values().any(|w| w.namespace == namespace) && idle();
        if idle {
            state.spaces.remove(namespace);
            then();
        }
        idle
    }

    /// From now on no call may wait. Those that do, by namespace, with what is left of their time.
    pub(crate) fn close(&self) -> HashMap<String, Vec<(Call, Duration)>> {
        let mut state = self.state();
        state.closing = true;
        let now = Instant::now();
        let mut calls: HashMap<String, Vec<_>> = HashMap::new();
        for waiting in state.calls.values().filter(|w| w.queued) {
            let left = waiting.deadline.saturating_duration_since(now);
            let here = calls.entry(waiting.namespace.clone()).or_default();
            here.push((waiting.call.clone(), left));
        }
        calls
    }

    /// Is no call to wait any more?
    pub(crate) fn closing(&self) -> bool {
        self.state().closing
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn closing() -> Error {
    Error::unavailable("this node shuts down: ask another, the place in the queue is kept")
}
