//! Clears away what has ended in namespaces that nobody calls any more.
//!
//! Whoever calls sweeps first, and nodes that wait sweep in time, so no answer depends on this. But
//! what a person reads in Redis would go on showing leases that have ended, for ever.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::engine::Node;

/// There is no hurry: by then whoever is there has swept.
const LATER: Duration = Duration::from_secs(1);
/// Between two sweeps of a namespace; crowded ones are swept by those who call.
const LEAST: Duration = Duration::from_secs(5);
/// Where a sweep failed, the next one.
const AGAIN: Duration = Duration::from_secs(10);

/// When this node is to look at which namespace.
#[derive(Debug, Default)]
pub(crate) struct Tidy {
    plan: Mutex<Plan>,
    sooner: Notify,
}

#[derive(Debug, Default)]
struct Plan {
    by_time: BTreeSet<(Instant, String)>,
    by_namespace: HashMap<String, Instant>,
}

impl Tidy {
    /// Something in the namespace ends within that time.
    pub(crate) fn expect(&self, namespace: &str, within: Duration) {
        if self.plan().bring_forward(namespace, Instant::now() + within + LATER) {
            self.sooner.notify_one();
        }
    }

    fn next(&self) -> Option<Instant> {
        self.plan().by_time.first().map(|(at, _)| *at)
    }

    fn take_due(&self) -> Option<String> {
        self.plan().take(Instant::now())
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        // Nothing panics while it holds the lock half-way through a change.
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// True where the whole plan has to begin sooner now.
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

    fn take(&mut self, now: Instant) -> Option<String> {
        if self.by_time.first()?.0 > now {
            return None;
        }
        let (_, namespace) = self.by_time.pop_first()?;
        self.by_namespace.remove(&namespace);
        Some(namespace)
    }
}

/// Follows the plan until the node is gone.
pub(crate) async fn run(node: Weak<Node>) {
    while let Some(strong) = node.upgrade() {
        if let Some(namespace) = strong.tidy.take_due() {
            sweep(&strong, &namespace).await;
            continue;
        }
        let (tidy, next) = (Arc::clone(&strong.tidy), strong.tidy.next());
        drop(strong);
        // Within that time a node that is gone is found to be so.
        let longest = Instant::now() + AGAIN;
        let at = next.map_or(longest, |next| next.min(longest));
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            () = tidy.sooner.notified() => {}
        }
    }
}

async fn sweep(node: &Node, namespace: &str) {
    if node.waits.knows(namespace) {
        // Its patrol sweeps it.
        return node.tidy.expect(namespace, AGAIN);
    }
    match node.scripts.sweep(namespace, &node.id).await {
        Ok(reply) => {
            if let Ok(micros) = u64::try_from(reply.sweep_in) {
                node.tidy.expect(namespace, Duration::from_micros(micros).max(LEAST));
            }
        }
        Err(error) => {
            tracing::debug!(%error, namespace, "what has ended there is cleared away later");
            node.tidy.expect(namespace, AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sooner_time_of_a_namespace_stands_and_it_comes_once() {
        let (mut plan, now) = (Plan::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert!(plan.bring_forward("a", now + 3 * second));
        assert!(!plan.bring_forward("b", now + 5 * second));
        assert!(!plan.bring_forward("a", now + 4 * second));
        assert!(plan.bring_forward("b", now + second));
        assert_eq!(plan.take(now), None);
        assert_eq!(plan.take(now + 3 * second).as_deref(), Some("b"));
        assert_eq!(plan.take(now + 3 * second).as_deref(), Some("a"));
        assert_eq!(plan.take(now + 9 * second), None);
    }
}
