//! Keeps the watch of one semaphore up to date: has Redis publish its changes, and shows what comes.
//!
//! Redis publishes the changes of a semaphore only while it is marked as watched. Whenever the mark is
//! renewed, and whenever a subscription begins, the reply brings the present state: so nothing that
//! was missed stays hidden.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch::Receiver;

use crate::config::RENEW_WATCH_EVERY;
use crate::engine::namespace_subscriptions::NamespaceSubscriptions;
use crate::engine::subscriber::Subscribers;
use crate::engine::subscriber::topic::Topic;
use crate::engine::waiters::Waiters;
use crate::engine::watch::latest_state::LatestState;
use crate::engine::watch::registry::{Incoming, NewWatch, Shown, WatchRegistry};
use crate::error::Error;
use crate::scripts::Scripts;
use crate::types::{SemaphoreName, random_unit};

/// The first pause after an error; it doubles up to `RENEW_WATCH_EVERY`.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// A new state is shown at most that often. Otherwise a crowd of watchers, woken by each of many
/// changes, would delay the calls that wait on this node.
const SHOW_EVERY: Duration = Duration::from_millis(20);

pub(crate) struct WatchTask {
    scripts: Arc<Scripts>,
    waiters: Arc<Waiters>,
    end: WatchEnd,
    watched: SemaphoreName,
    number: u64,
    incoming: Receiver<Incoming>,
    latest: LatestState,
    /// What was read of `incoming`.
    subscriptions: u64,
    messages: u64,
    renew_at: Instant,
    /// The pause after the next error.
    pause: Duration,
    /// There was nothing to watch.
    found_nothing: bool,
}

/// What has to be told when a watch ends.
pub(crate) struct WatchEnd {
    pub(crate) registry: Arc<WatchRegistry>,
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) subscriptions: Arc<NamespaceSubscriptions>,
}

impl WatchTask {
    pub(crate) fn new(
        scripts: Arc<Scripts>,
        waiters: Arc<Waiters>,
        end: WatchEnd,
        watched: SemaphoreName,
        new: NewWatch,
    ) -> Self {
        Self {
            scripts,
            waiters,
            end,
            watched,
            number: new.number,
            incoming: new.incoming,
            latest: LatestState::new(new.shown),
            subscriptions: 0,
            messages: 0,
            renew_at: Instant::now(),
            pause: RETRY_AFTER,
            found_nothing: false,
        }
    }

    pub(crate) async fn run(mut self) {
        while self.round().await {}
    }

    /// False where the watch is over.
    async fn round(&mut self) -> bool {
        tokio::select! {
            // In this order, so that it ends with its last watcher.
            biased;
            changed = self.incoming.changed() => if changed.is_err() { return false },
            () = tokio::time::sleep_until(self.renew_at.into()) => {}
        }
        let incoming = self.incoming.borrow_and_update().clone();
        let subscribed = incoming.subscriptions != self.subscriptions;
        if subscribed {
            // Perhaps at another server, whose clock differs. Its reply is newer than any message.
            self.latest.forget_time();
            self.messages = incoming.messages;
        }
        let mut news = self.read(&incoming);
        if subscribed || self.renew_at <= Instant::now() {
            self.subscriptions = incoming.subscriptions;
            news |= self.renew().await;
        }
        if news && !self.latest.is_last() {
            tokio::time::sleep(SHOW_EVERY).await;
        }
        !self.latest.is_last()
    }

    /// Reads the last message. True where it brings news.
    fn read(&mut self, incoming: &Incoming) -> bool {
        if incoming.messages == self.messages {
            return false;
        }
        self.messages = incoming.messages;
        let SemaphoreName { namespace, .. } = &self.watched;
        let message = incoming.message.as_deref().unwrap_or_default();
        match self.scripts.watch_message(namespace, message) {
            Ok(state) => self.latest.see(state),
            Err(error) => {
                tracing::warn!(%error, namespace, "unknown message on Grackle's channel; ignored");
                false
            }
        }
    }

    /// Renews the mark in Redis. True where the reply brings news.
    async fn renew(&mut self) -> bool {
        let SemaphoreName { namespace, name } = &self.watched;
        let reply = self.scripts.watch(namespace, name).await;
        let first_error = self.pause == RETRY_AFTER;
        let next = if reply.is_ok() { jittered(RENEW_WATCH_EVERY) } else { self.pause };
        self.pause =
            if reply.is_ok() { RETRY_AFTER } else { (2 * self.pause).min(RENEW_WATCH_EVERY) };
        self.renew_at = Instant::now() + next;
        match reply {
            Ok(state) => {
                self.waiters.sweep_within(namespace, state.sweep_in.unwrap_or(-1));
                self.latest.see(state)
            }
            Err(error) => self.fail(error, first_error),
        }
    }

    /// Redis did not answer with a state. True where that is news.
    fn fail(&mut self, error: Error, first: bool) -> bool {
        let SemaphoreName { namespace, name } = &self.watched;
        match error {
            error if self.latest.is_empty() => {
                self.found_nothing = true;
                self.latest.show(Shown::Failed(Arc::new(error)))
            }
            Error::NamespaceNotFound | Error::SemaphoreNotFound => self.latest.show(Shown::Deleted),
            error if first => {
                tracing::warn!(%error, namespace, semaphore = name, "could not renew a watch; retrying");
                false
            }
            error => {
                tracing::debug!(%error, namespace, semaphore = name, "could not renew a watch again; retrying");
                false
            }
        }
    }
}

impl Drop for WatchTask {
    fn drop(&mut self) {
        self.end.end(&self.watched, self.number, self.found_nothing);
    }
}

impl WatchEnd {
    fn end(&self, watched: &SemaphoreName, number: u64, found_nothing: bool) {
        let topic = Topic::Semaphore(watched.clone());
        let unsubscribe = || self.subscribers.unsubscribe(topic);
        self.registry.end(watched, number, unsubscribe);
        if found_nothing {
            // Nothing was there to watch, so the namespace need not stay active for a while.
            self.subscriptions.unsubscribe_unused(&watched.namespace);
        }
    }
}

/// Up to a tenth less, so that watches which began together do not renew together.
fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(1.0 - random_unit() / 10.0)
}
