//! The active sweeper: keeps a namespace swept while calls wait there or a semaphore is watched.
//!
//! It sweeps when something is due, so that the permits of a crashed holder are handed on within
//! milliseconds of its lease's end, and every few seconds to renew the node's alive mark. Between
//! two sweeps it sends nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::SWEEP_EVERY;
use crate::engine::load::registry::LoadRegistry;
use crate::engine::missed_answers::Resumer;
use crate::engine::namespace_subscriptions::NamespaceSubscriptions;
use crate::engine::tasks::Tasks;
use crate::engine::waiters::{SweepTime, Waiters};
use crate::engine::watch::registry::WatchRegistry;
use crate::scripts::{Scripts, SweepReply};
use crate::types::random_unit;

/// How long a namespace stays active after its last wait or watch.
const LINGER: Duration = Duration::from_secs(30);
/// After that long, and up to half as long again, Redis is asked about all waiting calls.
const RECHECK_AFTER: Duration = Duration::from_secs(90);
/// A difference between Redis and this node counts once it was seen so often in a row; before, it may
/// be a message on its way. (That Redis knows no call at all counts at once: it has parked those of a
/// node that was stopped for longer than its alive mark was valid.)
const CONFIRMATIONS: u32 = 2;

pub(crate) struct ActiveSweeper {
    pub(crate) node_id: String,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) watches: Arc<WatchRegistry>,
    pub(crate) subscriptions: Arc<NamespaceSubscriptions>,
    pub(crate) resumer: Arc<Resumer>,
    pub(crate) load: Arc<LoadRegistry>,
    pub(crate) tasks: Tasks,
}

impl ActiveSweeper {
    /// Subscribes to a namespace that has become active, and sweeps it for as long as it is.
    pub(crate) fn start(self: &Arc<Self>, namespace: &str, sweep_at: SweepTime) {
        self.subscriptions.subscribe(namespace);
        self.tasks.spawn(Arc::clone(self).run(namespace.to_owned(), sweep_at));
    }

    /// The same, if the namespace is not active yet.
    pub(crate) fn activate(self: &Arc<Self>, namespace: &str) {
        if let Some(sweep_at) = self.waiters.activate(namespace) {
            self.start(namespace, sweep_at);
        }
    }

    async fn run(self: Arc<Self>, namespace: String, mut sweep_at: SweepTime) {
        let mut round = Round::new(self, namespace);
        loop {
            let at = *sweep_at.borrow_and_update();
            tokio::select! {
                () = tokio::time::sleep_until(at.into()) => {}
                changed = sweep_at.changed() => match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                },
            }
            if !round.sweep().await {
                return;
            }
        }
    }
}

/// What one namespace's rounds know of those before them.
struct Round {
    sweeper: Arc<ActiveSweeper>,
    namespace: String,
    unused_since: Option<Instant>,
    recheck_at: Instant,
    /// How often in a row Redis knew fewer calls than this node.
    missing: u32,
    /// How often in a row Redis saw no subscription though the node has one.
    unsubscribed: u32,
}

impl Round {
    fn new(sweeper: Arc<ActiveSweeper>, namespace: String) -> Self {
        let recheck_at = Instant::now() + jittered(RECHECK_AFTER);
        Self { sweeper, namespace, unused_since: None, recheck_at, missing: 0, unsubscribed: 0 }
    }

    /// Sweeps once; false where the namespace is not active any more.
    async fn sweep(&mut self) -> bool {
        let ActiveSweeper { node_id, scripts, waiters, watches, load, .. } = &*self.sweeper;
        let namespace = self.namespace.as_str();
        load.observe_waiting(namespace, waiters.by_semaphore(namespace));
        let waiting = waiters.count(namespace);
        if waiting == 0 && !watches.any_in(namespace) {
            return self.linger();
        }
        self.unused_since = None;
        waiters.sweep_begins(namespace, SWEEP_EVERY);
        match scripts.sweep(namespace, node_id).await {
            Ok(reply) => self.follow_up(&reply, waiting).await,
            Err(error) => {
                tracing::warn!(%error, namespace, "could not sweep; the next sweep is due soon");
            }
        }
        true
    }

    /// Keeps an unused namespace active for a while; false once that is over.
    fn linger(&mut self) -> bool {
        let since = *self.unused_since.get_or_insert_with(Instant::now);
        let left = LINGER.saturating_sub(since.elapsed());
        if left.is_zero() && self.sweeper.subscriptions.unsubscribe_unused(&self.namespace) {
            return false;
        }
        self.sweeper.waiters.sweep_begins(&self.namespace, left.max(SWEEP_EVERY));
        true
    }

    /// Compares what Redis knows with what this node knows.
    async fn follow_up(&mut self, reply: &SweepReply, waiting: usize) {
        let ActiveSweeper { waiters, subscriptions, .. } = &*self.sweeper;
        waiters.sweep_within(&self.namespace, reply.sweep_in);
        let subscribed = waiters.subscription(&self.namespace).is_some();
        let unseen = reply.subscribers == 0 && subscribed;
        self.unsubscribed = if unseen { self.unsubscribed + 1 } else { 0 };
        if self.unsubscribed == CONFIRMATIONS {
            subscriptions.resubscribe(&self.namespace);
        }
        self.missing = match reply.waiting {
            0 => CONFIRMATIONS,
            known if known < waiting => self.missing + 1,
            _ => 0,
        };
        self.recheck().await;
    }

    async fn recheck(&mut self) {
        if self.missing < CONFIRMATIONS && Instant::now() < self.recheck_at {
            return;
        }
        self.missing = 0;
        self.recheck_at = Instant::now() + jittered(RECHECK_AFTER);
        if let Err(error) = self.sweeper.resumer.resume_all(&self.namespace).await {
            let namespace = &self.namespace;
            tracing::warn!(%error, namespace, "could not re-check waiting calls; the next re-check follows");
        }
    }
}

/// Up to half as long again, so that nodes which began together do not ask together.
fn jittered(duration: Duration) -> Duration {
    duration.mul_f64(1.0 + random_unit() / 2.0)
}
