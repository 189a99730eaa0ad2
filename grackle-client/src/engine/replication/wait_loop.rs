//! The connection to one server on which WAIT tells how far its replicas are.
//!
//! Grants are asked about in rounds: those that come during one share the next. A round lasts a part
//! of the time that a grant has, so that one which just missed a round still gets a whole one.

use std::collections::HashMap;
use std::sync::Weak;
use std::time::Duration;

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, RedisError};
use futures_util::future::join_all;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};

use crate::config::ReplicaAcks;
use crate::engine::Node;
use crate::engine::replication::replica_acks::Grant;
use crate::scripts::Call;
use crate::transport::connection::Lane;
use crate::transport::router::breaks_connection;

/// Rounds in the time of a grant: it may miss one.
const ROUNDS: u32 = 3;
/// Between two tries to reach the server.
const PAUSE: Duration = Duration::from_millis(20);
/// Grants that one script confirms.
const BATCH: usize = 500;

pub(crate) struct Witness {
    node: Weak<Node>,
    lane: Lane,
    wanted: ReplicaAcks,
    grants: UnboundedReceiver<Grant>,
    /// Not yet confirmed to stand here, on the connection that there is now.
    new: Vec<Grant>,
    /// Confirmed; replicas are still to have them.
    open: Vec<Grant>,
    /// Said once, not at each grant.
    refused: bool,
}

impl Witness {
    pub(crate) fn new(
        node: Weak<Node>,
        lane: Lane,
        wanted: ReplicaAcks,
        grants: UnboundedReceiver<Grant>,
    ) -> Self {
        Self { node, lane, wanted, grants, new: Vec::new(), open: Vec::new(), refused: false }
    }

    /// One round after the other, until the node is gone.
    pub(crate) async fn run(mut self) {
        while self.gather().await {
            if let Err(error) = self.round().await {
                tracing::debug!(%error, "replicas can't be asked about; trying again");
                // Another connection may be to another server, which knows nothing of them.
                self.new.append(&mut self.open);
                sleep(PAUSE).await;
            }
        }
    }

    /// Waits until there is a grant to ask about; false where the node is gone.
    async fn gather(&mut self) -> bool {
        self.new.retain(Grant::is_open);
        self.open.retain(Grant::is_open);
        if self.new.is_empty() && self.open.is_empty() {
            match self.grants.recv().await {
                Some(grant) => self.new.push(grant),
                None => return false,
            }
        }
        while let Ok(grant) = self.grants.try_recv() {
            self.new.push(grant);
        }
        true
    }

    async fn round(&mut self) -> Result<(), RedisError> {
        let (connection, number) = self.lane.connection().await?;
        let asked = self.ask(connection).await;
        asked.inspect_err(|_| self.lane.retire(number))
    }

    /// An error is one of the connection; what the server refuses it does not refuse the less the
    /// next time, and ends the grants that were asked about.
    async fn ask(&mut self, connection: MultiplexedConnection) -> Result<(), RedisError> {
        self.confirm(&connection).await?;
        if self.open.is_empty() {
            return Ok(());
        }
        match self.wait(connection).await {
            Ok(acked) => {
                self.note(acked);
                if !self.open.is_empty() {
                    // Replicas are missing or slow: another round is no hurry.
                    sleep(PAUSE).await;
                }
            }
            Err(error) if breaks_connection(&error) => return Err(error),
            Err(error) => {
                if !std::mem::replace(&mut self.refused, true) {
                    tracing::warn!(%error, "WAIT is refused: no replica is known to have the grants");
                }
                self.open.clear();
            }
        }
        Ok(())
    }

    /// Sees which of the new grants stand on this server: after a failover it may be another than
    /// that which granted, and know nothing of them.
    async fn confirm(&mut self, connection: &MultiplexedConnection) -> Result<(), RedisError> {
        let Some(node) = self.node.upgrade() else { return Ok(()) };
        let batches = batches(self.new.drain(..));
        let answers = batches.iter().map(|(namespace, grants)| async {
            let calls: Vec<&Call> = grants.iter().map(|grant| &grant.call).collect();
            node.scripts.confirm(connection.clone(), namespace, &calls).await
        });
        let answers = join_all(answers).await;
        let mut broken = None;
        for ((_, grants), answer) in batches.into_iter().zip(answers) {
            match answer {
                Ok(stands) => self.open.extend(those(grants, stands)),
                Err(error) if breaks_connection(&error) => {
                    self.new.extend(grants);
                    broken = Some(error);
                }
                Err(error) => tracing::debug!(%error, "grants can't be confirmed"),
            }
        }
        broken.map_or(Ok(()), Err)
    }

    /// How many replicas have all that this connection wrote.
    async fn wait(&self, mut connection: MultiplexedConnection) -> Result<i64, RedisError> {
        let now = Instant::now();
        let left = self.open.iter().map(|grant| grant.deadline.saturating_duration_since(now));
        let longest = left.max().unwrap_or_default().min(self.wanted.within / ROUNDS);
        let mut wait = redis::cmd("WAIT");
        // 0 would be for ever.
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(1);
        wait.arg(self.wanted.replicas).arg(millis);
        wait.query_async(&mut connection).await
    }

    fn note(&mut self, acked: i64) {
        for grant in &self.open {
            grant.acked.send_if_modified(|known| {
                let more = acked > *known;
                *known = acked.max(*known);
                more
            });
        }
        if acked >= i64::from(self.wanted.replicas) {
            self.open.clear();
        }
    }
}

/// By namespace, as many as one script takes.
fn batches(grants: impl Iterator<Item = Grant>) -> Vec<(String, Vec<Grant>)> {
    let mut by_namespace: HashMap<String, Vec<Grant>> = HashMap::new();
    for grant in grants {
        by_namespace.entry(grant.namespace.clone()).or_default().push(grant);
    }
    let mut batches = Vec::new();
    for (namespace, mut grants) in by_namespace {
        while !grants.is_empty() {
            let rest = grants.split_off(grants.len().min(BATCH));
            batches.push((namespace.clone(), std::mem::replace(&mut grants, rest)));
        }
    }
    batches
}

fn those(grants: Vec<Grant>, stands: Vec<bool>) -> impl Iterator<Item = Grant> {
    grants.into_iter().zip(stands).filter_map(|(grant, stands)| stands.then_some(grant))
}
