//! Leases of the node's own, under which calls wait that have none.
//!
//! A node that dies lets them end, and with them the waits and whatever they were just granted.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::engine::{BATCH, Node};
use crate::error::Error;
use crate::validate;
use crate::wire::Metadata;

/// How long one goes on without its node.
const LIVES_FOR: Duration = Duration::from_secs(30);
const KEEP_EVERY: Duration = Duration::from_secs(10);
/// Where Redis did not answer: half of its life is over by then.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Those of a node that are in use, by namespace: one command keeps many.
#[derive(Debug, Default)]
pub(crate) struct StandIns(Mutex<HashMap<String, HashSet<String>>>);

/// A lease that stands in for a call. Dropped, it ends, with all that it holds and waits for.
pub(crate) struct StandIn {
    node: Arc<Node>,
    namespace: String,
    pub(crate) lease_id: String,
    over: bool,
}

impl StandIn {
    pub(crate) async fn hire(node: &Arc<Node>, namespace: &str) -> Result<Self, Error> {
        let lease_id = validate::new_stand_in_id();
        let process = format!("node/{}", node.id);
        // First: dropped before the answer, it ends the lease that may have been made.
        let (node, namespace) = (Arc::clone(node), namespace.to_owned());
        let this = Self { node, namespace, lease_id, over: false };
        let Self { node, namespace, lease_id, .. } = &this;
        let none = Metadata::new();
        node.scripts.create_lease(namespace, lease_id, &process, LIVES_FOR, &none).await?;
        node.tidy.expect(namespace, LIVES_FOR);
        if node.stand_ins.enter(namespace, lease_id) {
            node.runtime.spawn(keep(Arc::downgrade(node), namespace.clone()));
        }
        Ok(this)
    }

    /// Its work is done, and it has ended with that.
    pub(crate) fn serve_no_more(mut self) {
        self.over = true;
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.node.stand_ins.leave(&self.namespace, &self.lease_id);
        if self.over {
            return;
        }
        let (node, namespace) = (Arc::clone(&self.node), std::mem::take(&mut self.namespace));
        let lease_id = std::mem::take(&mut self.lease_id);
        self.node.errands.run(&self.node.runtime, async move {
            // Where Redis is away, or the lease never was, its own end does it.
            if let Err(error) = node.scripts.revoke_lease(&namespace, &lease_id).await {
                tracing::debug!(%error, lease_id, "a lease that stood in ends by itself");
            }
        });
    }
}

impl StandIns {
    /// True for the first in the namespace: they are to be kept from now on.
    fn enter(&self, namespace: &str, lease_id: &str) -> bool {
        let mut all = self.all();
        let first = !all.contains_key(namespace);
        all.entry(namespace.to_owned()).or_default().insert(lease_id.to_owned());
        first
    }

    fn leave(&self, namespace: &str, lease_id: &str) {
        if let Some(leases) = self.all().get_mut(namespace) {
            leases.remove(lease_id);
        }
    }

    /// None where there are no more: whoever comes next is the first.
    fn to_keep(&self, namespace: &str) -> Option<Vec<String>> {
        let mut all = self.all();
        let leases = all.get(namespace).filter(|leases| !leases.is_empty());
        let leases = leases.map(|leases| leases.iter().cloned().collect());
        if leases.is_none() {
            all.remove(namespace);
        }
        leases
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, HashSet<String>>> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn keep(node: Weak<Node>, namespace: String) {
    let mut pause = KEEP_EVERY;
    loop {
        tokio::time::sleep(pause).await;
        let Some(node) = node.upgrade() else { return };
        let Some(leases) = node.stand_ins.to_keep(&namespace) else { return };
        pause = KEEP_EVERY;
        for leases in leases.chunks(BATCH) {
            if let Err(error) = node.scripts.keep_leases(&namespace, LIVES_FOR, leases).await {
                tracing::warn!(%error, namespace, "leases that stand in are not kept");
                pause = AGAIN_AFTER;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_kept_from_the_first_to_the_last() {
        let stand_ins = StandIns::default();
        assert!(stand_ins.enter("ns", "a"));
        assert!(!stand_ins.enter("ns", "b"));
        assert!(stand_ins.enter("other", "c"));
        stand_ins.leave("ns", "a");
        assert_eq!(stand_ins.to_keep("ns"), Some(vec!["b".to_owned()]));
        stand_ins.leave("ns", "b");
        assert!(!stand_ins.enter("ns", "d"), "its keeper has not looked yet");
        stand_ins.leave("ns", "d");
        assert_eq!(stand_ins.to_keep("ns"), None);
        assert!(stand_ins.enter("ns", "e"), "the last keeper has gone");
    }
}
