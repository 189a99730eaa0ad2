//! Proxy leases: leases of this node, under which downs wait.
//!
//! A node that dies lets them end, and with them the waits and what they were just granted.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::cleanup::CleanupTasks;
use crate::engine::missed_answers::BATCH;
use crate::engine::sweeper::idle::IdleSweeper;
use crate::engine::tasks::Tasks;
use crate::error::Error;
use crate::scripts::Scripts;
use crate::validate;
use crate::wire::Metadata;

/// How long a proxy lease outlives its node.
const TTL: Duration = Duration::from_secs(30);
const REFRESH_EVERY: Duration = Duration::from_secs(10);
/// Where Redis did not answer: a third of the TTL is over by then.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The proxy leases of a node.
pub(crate) struct ProxyLeases {
    pub(crate) node_id: String,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) sweeper: Arc<IdleSweeper>,
    pub(crate) tasks: Tasks,
    pub(crate) cleanup: CleanupTasks,
    pub(crate) in_use: LeasesInUse,
}

/// Lease ids by namespace: one command refreshes all of a namespace.
#[derive(Debug, Default)]
pub(crate) struct LeasesInUse(Mutex<HashMap<String, HashSet<String>>>);

/// A lease under which one call waits. Dropped, it is revoked, with all that it holds and waits for.
pub(crate) struct ProxyLease {
    leases: Arc<ProxyLeases>,
    namespace: String,
    pub(crate) lease_id: String,
    ended: bool,
}

impl ProxyLease {
    pub(crate) async fn create(leases: &Arc<ProxyLeases>, namespace: &str) -> Result<Self, Error> {
        let lease_id = validate::new_proxy_lease_id();
        let process_id = format!("node/{}", leases.node_id);
        let none = Metadata::new();
        // Before the script runs: dropped during it, this revokes what it may have created.
        let (leases, namespace) = (Arc::clone(leases), namespace.to_owned());
        let this = Self { leases, namespace, lease_id, ended: false };
        let Self { leases, namespace, lease_id, .. } = &this;
        leases.scripts.create_lease(namespace, lease_id, &process_id, TTL, &none).await?;
        leases.sweeper.sweep_within(namespace, TTL);
        if leases.in_use.add(namespace, lease_id) {
            leases.tasks.spawn(Arc::clone(leases).refresh(namespace.clone()));
        }
        Ok(this)
    }

    /// It has ended in Redis already.
    pub(crate) fn ended(mut self) {
        self.ended = true;
    }
}

impl Drop for ProxyLease {
    fn drop(&mut self) {
        self.leases.in_use.remove(&self.namespace, &self.lease_id);
        if self.ended {
            return;
        }
        let scripts = Arc::clone(&self.leases.scripts);
        let namespace = std::mem::take(&mut self.namespace);
        let lease_id = std::mem::take(&mut self.lease_id);
        self.leases.cleanup.spawn(async move {
            // Where this fails, or the lease was never created, its TTL does it.
            if let Err(error) = scripts.revoke_lease(&namespace, &lease_id).await {
                tracing::debug!(%error, namespace, lease_id, "could not revoke a proxy lease; it expires");
            }
        });
    }
}

impl ProxyLeases {
    /// Refreshes the leases of a namespace for as long as there are any.
    async fn refresh(self: Arc<Self>, namespace: String) {
        let mut pause = REFRESH_EVERY;
        loop {
            tokio::time::sleep(pause).await;
            let Some(leases) = self.in_use.to_refresh(&namespace) else { return };
            pause = REFRESH_EVERY;
            for leases in leases.chunks(BATCH) {
                if let Err(error) = self.scripts.refresh_proxy_leases(&namespace, TTL, leases).await
                {
                    tracing::warn!(%error, namespace, "could not refresh the leases of waiting downs; retrying");
                    pause = RETRY_AFTER;
                }
            }
        }
    }
}

impl LeasesInUse {
    /// True for the first of a namespace: then its leases have to be refreshed from now on.
    fn add(&self, namespace: &str, lease_id: &str) -> bool {
        let mut all = self.all();
        let first = !all.contains_key(namespace);
        all.entry(namespace.to_owned()).or_default().insert(lease_id.to_owned());
        first
    }

    fn remove(&self, namespace: &str, lease_id: &str) {
        if let Some(leases) = self.all().get_mut(namespace) {
            leases.remove(lease_id);
        }
    }

    /// None where there are no more: then the next one is the first again.
    fn to_refresh(&self, namespace: &str) -> Option<Vec<String>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_are_refreshed_from_the_first_to_the_last() {
        let leases = LeasesInUse::default();
        assert!(leases.add("ns", "a"), "{leases:?}");
        assert!(!leases.add("ns", "b"), "{leases:?}");
        assert!(leases.add("other", "c"), "{leases:?}");
        leases.remove("ns", "a");
        assert_eq!(leases.to_refresh("ns"), Some(vec!["b".to_owned()]));
        leases.remove("ns", "b");
        assert!(!leases.add("ns", "d"), "the task has not looked yet: {leases:?}");
        leases.remove("ns", "d");
        assert_eq!(leases.to_refresh("ns"), None);
        assert!(leases.add("ns", "e"), "the task has ended: {leases:?}");
    }
}
