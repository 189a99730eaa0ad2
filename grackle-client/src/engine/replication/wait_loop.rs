//! Runs WAIT on one server, to learn how many replicas have which grants.
//!
//! Grants that come in during one round share the next. A round lasts a third of the time that a
//! grant has, so that a grant which just missed one still gets a whole round.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, RedisError};
use futures_util::future::join_all;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};

use crate::config::ReplicaAcks;
use crate::engine::replication::grant::Grant;
use crate::scripts::{Call, Scripts};
use crate::transport::connection::ServerConnection;
use crate::transport::router::breaks_connection;

/// Rounds in the time of a grant: it may miss one.
const ROUNDS: u32 = 3;
/// Between two tries to reach the server, and two rounds that found replicas missing.
const PAUSE: Duration = Duration::from_millis(20);
/// Grants that one script confirms.
const BATCH: usize = 500;

pub(crate) struct WaitLoop {
    scripts: Arc<Scripts>,
    server: ServerConnection,
    wanted: ReplicaAcks,
    grants: UnboundedReceiver<Grant>,
    /// Not yet confirmed on the present connection.
    new: Vec<Grant>,
    /// Confirmed; too few replicas are known to have them.
    open: Vec<Grant>,
    /// Whether a refusal was logged: once is enough.
    refusal_logged: bool,
}

impl WaitLoop {
    pub(crate) fn new(
        scripts: Arc<Scripts>,
        server: ServerConnection,
        wanted: ReplicaAcks,
        grants: UnboundedReceiver<Grant>,
    ) -> Self {
        let (new, open) = (Vec::new(), Vec::new());
        Self { scripts, server, wanted, grants, new, open, refusal_logged: false }
    }

    /// Runs one round after the other, until the client ends.
    pub(crate) async fn run(mut self) {
        while self.gather().await {
            if let Err(error) = self.round().await {
                tracing::debug!(%error, "could not ask about replicas; retrying");
                // The next connection may lead to a server that does not have the grants.
                self.new.append(&mut self.open);
                sleep(PAUSE).await;
            }
        }
    }

    /// Waits until there is a grant to ask about; false where the client has ended.
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
        let (connection, number) = self.server.connection().await?;
        let asked = self.ask(connection).await;
        asked.inspect_err(|_| self.server.retire(number))
    }

    /// Fails where the connection is broken. Where the server refuses WAIT, it would refuse the next
    /// one too: then the grants are dropped.
    async fn ask(&mut self, connection: MultiplexedConnection) -> Result<(), RedisError> {
        self.confirm(&connection).await?;
        if self.open.is_empty() {
            return Ok(());
        }
        match self.wait(connection).await {
            Ok(replicas) => self.note(replicas).await,
            Err(error) if breaks_connection(&error) => return Err(error),
            Err(error) => self.refused(&error),
        }
        Ok(())
    }

    /// Finds out which of the new grants this server has: after a failover it may have none of them.
    async fn confirm(&mut self, connection: &MultiplexedConnection) -> Result<(), RedisError> {
        let batches = batches(self.new.drain(..));
        let answers = batches.iter().map(|(namespace, grants)| async {
            let calls: Vec<&Call> = grants.iter().map(|grant| &grant.call).collect();
            self.scripts.touch_holds(connection.clone(), namespace, &calls).await
        });
        let answers = join_all(answers).await;
        let mut broken = None;
        for ((namespace, grants), answer) in batches.into_iter().zip(answers) {
            match answer {
                Ok(confirmed) => self.open.extend(only(grants, confirmed)),
                Err(error) if breaks_connection(&error) => {
                    self.new.extend(grants);
                    broken = Some(error);
                }
                Err(error) => tracing::debug!(%error, namespace, "could not confirm grants"),
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
        // 0 would block for ever.
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(1);
        wait.arg(self.wanted.replicas).arg(millis);
        wait.query_async(&mut connection).await
    }

    async fn note(&mut self, replicas: i64) {
        self.open.iter().for_each(|grant| grant.ack(replicas));
        if replicas >= i64::from(self.wanted.replicas) {
            self.open.clear();
        } else {
            sleep(PAUSE).await;
        }
    }

    fn refused(&mut self, error: &RedisError) {
        if !std::mem::replace(&mut self.refusal_logged, true) {
            tracing::warn!(
                %error,
                "Redis refuses WAIT, so acked_replicas is 0; give this user the right +wait"
            );
        }
        self.open.clear();
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

fn only(grants: Vec<Grant>, confirmed: Vec<bool>) -> impl Iterator<Item = Grant> {
    let pairs = grants.into_iter().zip(confirmed);
    pairs.filter_map(|(grant, confirmed)| confirmed.then_some(grant))
}
