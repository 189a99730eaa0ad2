//! The calls of this node that wait, by namespace: each is a task and an entry here, nothing more.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use crate::config::SWEEP_EVERY;
use crate::engine::load::registry::WaitingCalls;
use crate::error::Error;
use crate::scripts::{AcquireReply, Call, Outcome};

/// What ends the wait of a call, or interrupts it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Redis decided.
    Reply(Box<AcquireReply>),
    /// The wait can't succeed any more.
    Failed(Error),
    /// Redis does not know the call: it has to be sent again.
    AskAgain,
}

/// Receives the answer to a waiting call.
pub(crate) type AnswerReceiver = oneshot::Receiver<Answer>;

/// Says when a namespace has to be swept next; the time may be brought forward.
pub(crate) type SweepTime = watch::Receiver<Instant>;

/// The map of waiting calls, and of the namespaces that this node is active in.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    closing: bool,
    subscriptions: u64,
    namespaces: HashMap<String, Namespace>,
}

#[derive(Debug, Default)]
struct Namespace {
    /// By ticket.
    calls: HashMap<String, Waiting>,
    /// Set while calls wait there or a semaphore is watched, and for a while after.
    active: Option<Active>,
}

/// A namespace that this node subscribes to and sweeps.
#[derive(Debug)]
struct Active {
    /// The number of the subscription that receives its channels, if one does.
    subscription: Option<u64>,
    sweep_at: watch::Sender<Instant>,
}

#[derive(Debug)]
struct Waiting {
    call: Call,
    since: Instant,
    deadline: Instant,
    /// Redis has queued it.
    queued: bool,
    answer: Option<oneshot::Sender<Answer>>,
}

impl State {
    fn namespace(&mut self, namespace: &str) -> &mut Namespace {
        self.namespaces.entry(namespace.to_owned()).or_default()
    }

    fn active(&mut self, namespace: &str) -> Option<&mut Active> {
        self.namespaces.get_mut(namespace)?.active.as_mut()
    }

    /// Removes and returns a call.
    fn remove(&mut self, namespace: &str, ticket: &str) -> Option<Waiting> {
        let here = self.namespaces.get_mut(namespace)?;
        let waiting = here.calls.remove(ticket);
        if here.is_unused() {
            self.namespaces.remove(namespace);
        }
        waiting
    }

    fn queued(&self, namespace: &str) -> impl Iterator<Item = &Waiting> {
        let calls = self.namespaces.get(namespace).map(|here| here.calls.values());
        calls.into_iter().flatten().filter(|waiting| waiting.queued)
    }
}

impl Namespace {
    fn is_unused(&self) -> bool {
        self.calls.is_empty() && self.active.is_none()
    }

    /// Makes the namespace active. None where it was already.
    fn activate(&mut self) -> Option<SweepTime> {
        if self.active.is_some() {
            return None;
        }
        let (sweep_at, follow) = watch::channel(Instant::now() + SWEEP_EVERY);
        self.active = Some(Active { subscription: None, sweep_at });
        Some(follow)
    }
}

/// Calls.
impl Waiters {
    /// Adds a call before it is sent: its answer may arrive before the script's reply.
    pub(crate) fn add(
        &self,
        namespace: &str,
        call: &Call,
        since: Instant,
        deadline: Instant,
    ) -> Result<AnswerReceiver, Error> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        if state.closing {
            return Err(shutting_down());
        }
        let waiting =
            Waiting { call: call.clone(), since, deadline, queued: false, answer: Some(sender) };
        state.namespace(namespace).calls.insert(call.ticket.clone(), waiting);
        Ok(receiver)
    }

    /// Redis has queued the call. Where that makes its namespace active, the time of its next sweep.
    pub(crate) fn queued(&self, namespace: &str, ticket: &str) -> Result<Option<SweepTime>, Error> {
        let mut state = self.state();
        if state.closing {
            return Err(shutting_down());
        }
        let Some(here) = state.namespaces.get_mut(namespace) else { return Ok(None) };
        let Some(waiting) = here.calls.get_mut(ticket) else { return Ok(None) };
        waiting.queued = true;
        Ok(here.activate())
    }

    pub(crate) fn remove(&self, namespace: &str, ticket: &str) {
        self.state().remove(namespace, ticket);
    }

    /// Gives a call its answer, if it is still waiting.
    pub(crate) fn answer(&self, namespace: &str, ticket: &str, answer: Answer) {
        let sender = match answer {
            Answer::AskAgain => {
                let mut state = self.state();
                let here = state.namespaces.get_mut(namespace);
                here.and_then(|here| here.calls.get_mut(ticket)?.answer.take())
            }
            _ => self.state().remove(namespace, ticket).and_then(|waiting| waiting.answer),
        };
        if let Some(sender) = sender {
            // The call may have ended meanwhile.
            let _ = sender.send(answer);
        }
    }

    /// Gives a call what Redis decided.
    pub(crate) fn answer_reply(&self, namespace: &str, ticket: &str, reply: &AcquireReply) {
        let answer = match (reply.outcome, &reply.error) {
            (Outcome::Error, Some(text)) => Answer::Failed(Error::from_text(text)),
            _ => Answer::Reply(Box::new(reply.clone())),
        };
        self.answer(namespace, ticket, answer);
    }

    /// How many calls are queued in a namespace.
    pub(crate) fn count(&self, namespace: &str) -> usize {
        self.state().queued(namespace).count()
    }

    /// The calls that are queued in a namespace, in the order of their arrival.
    pub(crate) fn calls(&self, namespace: &str) -> Vec<Call> {
        let state = self.state();
        if state.closing {
            // They are being parked: nothing may bring them back from here.
            return Vec::new();
        }
        let mut waiting: Vec<_> = state.queued(namespace).collect();
        waiting.sort_by_key(|waiting| waiting.since);
        waiting.into_iter().map(|waiting| waiting.call.clone()).collect()
    }

    /// How many calls are queued in a namespace, and since when, by semaphore.
    pub(crate) fn by_semaphore(&self, namespace: &str) -> HashMap<String, WaitingCalls> {
        let mut by_semaphore: HashMap<String, WaitingCalls> = HashMap::new();
        for waiting in self.state().queued(namespace) {
            match by_semaphore.get_mut(&waiting.call.semaphore) {
                Some(calls) => calls.add(waiting.since),
                None => {
                    let calls = WaitingCalls { count: 1, since: waiting.since };
                    by_semaphore.insert(waiting.call.semaphore.clone(), calls);
                }
            }
        }
        by_semaphore
    }

    /// From now on no call may wait. Returns those that do, with the time that each has left.
    pub(crate) fn close(&self) -> HashMap<String, Vec<(Call, Duration)>> {
        let mut state = self.state();
        state.closing = true;
        let now = Instant::now();
        let left = |waiting: &Waiting| {
            (waiting.call.clone(), waiting.deadline.saturating_duration_since(now))
        };
        let mut calls = HashMap::new();
        for namespace in state.namespaces.keys() {
            let here: Vec<_> = state.queued(namespace).map(left).collect();
            if !here.is_empty() {
                calls.insert(namespace.clone(), here);
            }
        }
        calls
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.state().closing
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Active namespaces.
impl Waiters {
    /// Makes a namespace active. The time of its next sweep; none where it was active already.
    pub(crate) fn activate(&self, namespace: &str) -> Option<SweepTime> {
        self.state().namespace(namespace).activate()
    }

    /// Makes a namespace inactive where no call waits, if `unused` agrees. `then` runs before any
    /// call can make it active again.
    pub(crate) fn deactivate(
        &self,
        namespace: &str,
        unused: impl FnOnce() -> bool,
        then: impl FnOnce(),
    ) -> bool {
        let mut state = self.state();
        let here = state.namespaces.get(namespace);
        let unused = here.is_none_or(|here| here.calls.is_empty()) && unused();
        if unused {
            state.namespaces.remove(namespace);
            then();
        }
        unused
    }

    pub(crate) fn is_active(&self, namespace: &str) -> bool {
        self.state().active(namespace).is_some()
    }

    /// Brings the next sweep of a namespace forward, if it is later than `micros` from now (negative:
    /// nothing is due).
    pub(crate) fn sweep_within(&self, namespace: &str, micros: i64) {
        let within = u64::try_from(micros).map_or(SWEEP_EVERY, Duration::from_micros);
        let at = Instant::now() + within.min(SWEEP_EVERY);
        if let Some(active) = self.state().active(namespace) {
            active.sweep_at.send_if_modified(|next| {
                let sooner = at < *next;
                if sooner {
                    *next = at;
                }
                sooner
            });
        }
    }

    /// A sweep begins: the next one is due in `next`, unless something brings it forward.
    pub(crate) fn sweep_begins(&self, namespace: &str, next: Duration) {
        if let Some(active) = self.state().active(namespace) {
            active.sweep_at.send_replace(Instant::now() + next);
        }
    }

    /// A number for a new subscription.
    pub(crate) fn next_subscription(&self) -> u64 {
        let mut state = self.state();
        state.subscriptions += 1;
        state.subscriptions
    }

    /// The subscription that receives a namespace's channels, if one does.
    pub(crate) fn subscription(&self, namespace: &str) -> Option<u64> {
        self.state().active(namespace)?.subscription
    }

    /// A subscription receives these namespaces' channels from now on.
    pub(crate) fn subscribed<'a>(
        &self,
        namespaces: impl Iterator<Item = &'a String>,
        subscription: u64,
    ) {
        let mut state = self.state();
        for namespace in namespaces {
            if let Some(active) = state.active(namespace) {
                active.subscription = Some(subscription);
            }
        }
    }

    /// A subscription has ended; another one may receive some of the namespaces by now.
    pub(crate) fn unsubscribed<'a>(
        &self,
        namespaces: impl Iterator<Item = &'a String>,
        subscription: u64,
    ) {
        let mut state = self.state();
        for namespace in namespaces {
            if let Some(active) = state.active(namespace)
                && active.subscription == Some(subscription)
            {
                active.subscription = None;
            }
        }
    }

    /// The namespace has moved to another server: whatever is subscribed, it is at the wrong one.
    pub(crate) fn moved(&self, namespace: &str) {
        if let Some(active) = self.state().active(namespace) {
            active.subscription = None;
        }
    }
}

/// Why a call may not wait on a client that shuts down.
pub(crate) fn shutting_down() -> Error {
    Error::unavailable("this node shuts down: ask another, the place in the queue is kept")
}
