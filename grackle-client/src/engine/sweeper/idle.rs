//! The idle sweeper: ends what has expired in namespaces that this node does not wait in.
//!
//! No answer depends on it: whoever calls sweeps first, and nodes that wait sweep in time. But a
//! person who looks into Redis would otherwise see ended leases for ever.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::engine::waiters::Waiters;
use crate::scripts::Scripts;

/// How long after its time a namespace is swept: most are swept by a caller before.
const DELAY: Duration = Duration::from_secs(1);
/// The shortest time between two sweeps of a namespace.
const SHORTEST: Duration = Duration::from_secs(5);
/// The time until the next sweep where one failed, or another sweeper is at work.
const RETRY: Duration = Duration::from_secs(10);

pub(crate) struct IdleSweeper {
    node_id: String,
    scripts: Arc<Scripts>,
    waiters: Arc<Waiters>,
    plan: Mutex<Plan>,
    sooner: Notify,
}

/// When which namespace is to be swept.
#[derive(Debug, Default)]
struct Plan {
    by_time: BTreeSet<(Instant, String)>,
    by_namespace: HashMap<String, Instant>,
}

impl IdleSweeper {
    pub(crate) fn new(node_id: &str, scripts: Arc<Scripts>, waiters: Arc<Waiters>) -> Self {
        let (plan, sooner) = (Mutex::default(), Notify::new());
        Self { node_id: node_id.to_owned(), scripts, waiters, plan, sooner }
    }

    /// Something in the namespace ends within that time: sweep it then.
    pub(crate) fn sweep_within(&self, namespace: &str, within: Duration) {
        if self.plan().bring_forward(namespace, Instant::now() + within + DELAY) {
            self.sooner.notify_one();
        }
    }

    /// Follows the plan, for ever.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            let due = self.plan().take(Instant::now());
            match due {
                Some(namespace) => self.sweep(&namespace).await,
                None => self.wait().await,
            }
        }
    }

    async fn wait(&self) {
        let next = self.plan().by_time.first().map(|(at, _)| *at);
        let due = async {
            match next {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {}
            () = self.sooner.notified() => {}
        }
    }

    async fn sweep(&self, namespace: &str) {
        if self.waiters.is_active(namespace) {
            // The active sweeper does it.
            return self.sweep_within(namespace, RETRY);
        }
        match self.scripts.sweep(namespace, &self.node_id).await {
            Ok(reply) => {
                if let Ok(micros) = u64::try_from(reply.sweep_in) {
                    self.sweep_within(namespace, Duration::from_micros(micros).max(SHORTEST));
                }
            }
            Err(error) => {
                tracing::debug!(%error, namespace, "could not sweep an idle namespace; retrying");
                self.sweep_within(namespace, RETRY);
            }
        }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        // Nothing panics while it holds the lock half-way through a change.
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// True where that becomes the first of all.
    fn bring_forward(&mut self, namespace: &str, at: Instant) -> bool {
        match self.by_namespace.get(namespace) {
            Some(before) if *before <= at => return false,
            Some(before) => drop(self.by_time.remove(&(*before, namespace.to_owned()))),
            None => {}
        }
        self.by_namespace.insert(namespace.to_owned(), at);
        self.by_time.insert((at, namespace.to_owned()));
        self.by_time.first().is_some_and(|(_, first)| first == namespace)
    }

    /// Takes a namespace whose time has come.
    fn take(&mut self, now: Instant) -> Option<String> {
        if self.by_time.first()?.0 > now {
            return None;
        }
        let (_, namespace) = self.by_time.pop_first()?;
        self.by_namespace.remove(&namespace);
        Some(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_swept_once_at_the_soonest_of_its_times() {
        let (mut plan, now) = (Plan::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert!(plan.bring_forward("a", now + 3 * second), "{plan:?}");
        assert!(!plan.bring_forward("b", now + 5 * second), "{plan:?}");
        assert!(!plan.bring_forward("a", now + 4 * second), "{plan:?}");
        assert!(plan.bring_forward("b", now + second), "{plan:?}");
        assert_eq!(plan.take(now), None);
        assert_eq!(plan.take(now + 3 * second).as_deref(), Some("b"));
        assert_eq!(plan.take(now + 3 * second).as_deref(), Some("a"));
        assert_eq!(plan.take(now + 9 * second), None);
    }
}
