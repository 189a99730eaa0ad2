//! How many replicas have a grant: known within a time, or as far as it is known by then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::config::{Config, ReplicaAcks};
use crate::engine::Node;
use crate::engine::replication::wait_loop::Witness;
use crate::scripts::Call;
use crate::transport::connection::{Lane, Patience};
use crate::transport::topology::{Address, Servers};

/// The witnesses of a node: one a server, each with a connection of its own, as WAIT keeps all that
/// is sent after it waiting.
pub(crate) struct Acks {
    servers: Arc<Servers>,
    wanted: ReplicaAcks,
    patience: Patience,
    started: Mutex<HashMap<Address, UnboundedSender<Grant>>>,
}

/// A grant whose caller waits for replicas to have it.
pub(crate) struct Grant {
    pub(crate) namespace: String,
    pub(crate) call: Call,
    pub(crate) deadline: Instant,
    /// How many have it, as far as is known.
    pub(crate) acked: watch::Sender<i64>,
}

impl Acks {
    pub(crate) fn new(config: &Config, servers: &Arc<Servers>, wanted: ReplicaAcks) -> Self {
        let patience = Patience::of(config).and(wanted.within);
        Self { servers: Arc::clone(servers), wanted, patience, started: Mutex::default() }
    }

    /// Waits until as many replicas as wanted have what this call was granted, or the time is over;
    /// how many are known to.
    pub(crate) async fn count(&self, node: &Arc<Node>, namespace: &str, call: &Call) -> i64 {
        let deadline = Instant::now() + self.wanted.within;
        let (acked, mut known) = watch::channel(0);
        let (namespace, call) = (namespace.to_owned(), call.clone());
        self.tell(node, Grant { namespace, call, deadline, acked });
        let enough = known.wait_for(|acked| *acked >= i64::from(self.wanted.replicas));
        // Out of time, or nothing more is to be learnt: what is known stands.
        let _ = timeout_at(deadline, enough).await;
        *known.borrow()
    }

    fn tell(&self, node: &Arc<Node>, grant: Grant) {
        let address = self.servers.address(&grant.namespace);
        // Nothing panics while it holds the lock half-way through a change.
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        let grants = started.entry(address).or_insert_with_key(|address| self.start(node, address));
        // A witness lives as long as the node.
        let _ = grants.send(grant);
    }

    fn start(&self, node: &Arc<Node>, address: &Address) -> UnboundedSender<Grant> {
        let (sender, grants) = mpsc::unbounded_channel();
        let lane = Lane::new(Arc::clone(&self.servers), address.clone(), self.patience);
        let witness = Witness::new(Arc::downgrade(node), lane, self.wanted, grants);
        node.runtime.spawn(witness.run());
        sender
    }
}

impl Grant {
    /// Does its caller still wait?
    pub(crate) fn is_open(&self) -> bool {
        !self.acked.is_closed() && Instant::now() < self.deadline
    }
}
