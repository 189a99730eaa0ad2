//! Waits until replicas have a grant, or its time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::config::{Config, ReplicaAcks};
use crate::engine::replication::grant::Grant;
use crate::engine::replication::wait_loop::WaitLoop;
use crate::engine::tasks::Tasks;
use crate::scripts::{Call, Scripts};
use crate::transport::connection::{ServerConnection, Timeouts};
use crate::transport::topology::{Address, Topology};

/// The WAIT loops of a client: one for each server. Each has a connection of its own, as WAIT blocks
/// all commands behind it.
pub(crate) struct ReplicaAckCounter {
    scripts: Arc<Scripts>,
    topology: Arc<Topology>,
    tasks: Tasks,
    wanted: ReplicaAcks,
    timeouts: Timeouts,
    loops: Mutex<HashMap<Address, UnboundedSender<Grant>>>,
}

impl ReplicaAckCounter {
    pub(crate) fn new(
        config: &Config,
        wanted: ReplicaAcks,
        scripts: Arc<Scripts>,
        topology: Arc<Topology>,
        tasks: Tasks,
    ) -> Self {
        let timeouts = Timeouts::of(config).with_longer_commands(wanted.within);
        Self { scripts, topology, tasks, wanted, timeouts, loops: Mutex::default() }
    }

    /// Waits until enough replicas have what the call was granted, or the time is over. Returns how
    /// many are known to.
    pub(crate) async fn count(&self, namespace: &str, call: &Call) -> i64 {
        let deadline = Instant::now() + self.wanted.within;
        let (acked, mut known) = watch::channel(0);
        let (namespace, call) = (namespace.to_owned(), call.clone());
        self.send(Grant { namespace, call, deadline, acked });
        let enough = known.wait_for(|acked| *acked >= i64::from(self.wanted.replicas));
        // Where the time is over, or the loop has dropped the grant, what is known stands.
        let _ = timeout_at(deadline, enough).await;
        *known.borrow()
    }

    fn send(&self, grant: Grant) {
        let address = self.topology.address(&grant.namespace);
        // Nothing panics while it holds the lock half-way through a change.
        let mut loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let grants = loops.entry(address).or_insert_with_key(|address| self.start(address));
        // A loop ends only with the client.
        let _ = grants.send(grant);
    }

    fn start(&self, address: &Address) -> UnboundedSender<Grant> {
        let (sender, grants) = mpsc::unbounded_channel();
        let topology = Arc::clone(&self.topology);
        let connection = ServerConnection::new(topology, address.clone(), self.timeouts);
        let wait_loop = WaitLoop::new(Arc::clone(&self.scripts), connection, self.wanted, grants);
        self.tasks.spawn(wait_loop.run());
        sender
    }
}
