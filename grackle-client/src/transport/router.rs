//! One lane to each server; runs what is asked where the namespace is, again where that helps.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, ErrorKind, RedisError, ServerErrorKind};
use futures_util::future::join_all;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::error::{Error, code_and_detail};
use crate::transport::connection::{Lane, Patience};
use crate::transport::topology::{Address, Servers};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Where a server is only looked at.
const SOON: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Lanes {
    servers: Arc<Servers>,
    patience: Patience,
    retry_for: Duration,
    lanes: RwLock<HashMap<Address, Arc<Lane>>>,
    /// Namespaces that another server was found to have.
    moves: mpsc::UnboundedSender<String>,
}

impl Lanes {
    /// `moves` hears of each namespace that changes its server.
    pub(crate) fn new(
        config: &Config,
        servers: Arc<Servers>,
        moves: mpsc::UnboundedSender<String>,
    ) -> Self {
        let (patience, retry_for) = (Patience::of(config), config.retry_for);
        Self { servers, patience, retry_for, lanes: RwLock::default(), moves }
    }

    /// Runs `attempt` on the server that has the namespace, again over lost connections, until the
    /// retry time is over.
    ///
    /// What is run has to bear being run twice. No attempt is overtaken by an earlier one: a new
    /// connection ends the old one on the server before it is used. The flag beside an error says
    /// whether an earlier attempt may have run as well.
    pub(crate) async fn run<T, F>(
        &self,
        namespace: &str,
        attempt: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, (Error, bool)>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let (began, mut pause, mut retried) = (Instant::now(), FIRST_PAUSE, false);
        let mut followed = false;
        loop {
            let address = self.servers.address(namespace);
            let error = match self.once(&address, namespace, &attempt).await {
                Ok(value) => {
                    self.note(namespace, &address);
                    return Ok(value);
                }
                Err(error) => error,
            };
            if !self.passes(&error) || began.elapsed() + pause > self.retry_for {
                return Err((Error::from_redis(error), retried));
            }
            retried = true;
            // Two servers that name each other, while a slot changes hands, are not asked in a rush.
            followed = self.follow(namespace, &error) && !followed;
            if !followed {
                tracing::debug!(%error, "Redis does not answer; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// One PING, without a second try; in a cluster, to the first server that can be reached.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        let ping = |mut connection| async move {
            redis::cmd("PING").query_async::<String>(&mut connection).await
        };
        let mut others = self.servers.count() - 1;
        loop {
            match self.once(&self.servers.address(""), "", &ping).await {
                Err(error) if others > 0 && breaks_connection(&error) => others -= 1,
                answer => return answer.map(drop).map_err(Error::from_redis),
            }
        }
    }

    /// Asks all servers that are known, once and at once; those that don't answer soon are left out,
    /// unless that is all of them.
    pub(crate) async fn each<T, F>(
        &self,
        attempt: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<Vec<(Address, T)>, Error>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let asked = self.servers.addresses().into_iter().map(|address| async {
            match tokio::time::timeout(SOON, self.on_lane(&address, &attempt)).await {
                Ok(answer) => answer.map(|answer| (address, answer)).map_err(Error::from_redis),
                Err(_) => Err(Error::unavailable(format!("no answer from Redis within {SOON:?}"))),
            }
        });
        let (answers, failed): (Vec<_>, Vec<_>) =
            join_all(asked).await.into_iter().partition(Result::is_ok);
        match failed.into_iter().find_map(Result::err) {
            Some(error) if answers.is_empty() => Err(error),
            _ => Ok(answers.into_iter().flatten().collect()),
        }
    }

    /// Connects anew with the next command: the address may lead to another server by now.
    pub(crate) async fn renew(&self, address: &Address) {
        let lane = self.lane(address);
        if let Ok((_, number)) = lane.connection().await {
            lane.retire(number);
        }
    }

    async fn on_lane<T, F>(
        &self,
        address: &Address,
        attempt: &impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let lane = self.lane(address);
        let (connection, number) = lane.connection().await?;
        attempt(connection).await.inspect_err(|error| {
            if breaks_connection(error) {
                lane.retire(number);
            }
        })
    }

    async fn once<T, F>(
        &self,
        address: &Address,
        namespace: &str,
        attempt: &impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let lane = self.lane(address);
        let (connection, number) = lane.connection().await.inspect_err(|_| {
            self.servers.unreachable(namespace, address);
        })?;
        attempt(connection).await.inspect_err(|error| {
            if breaks_connection(error) {
                lane.retire(number);
            }
            if error.kind() == ErrorKind::Server(ServerErrorKind::ClusterDown) {
                // Perhaps it alone is cut off.
                self.servers.unreachable(namespace, address);
            }
        })
    }

    fn lane(&self, address: &Address) -> Arc<Lane> {
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(address) {
            return Arc::clone(lane);
        }
        drop(lanes);
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        let make =
            || Arc::new(Lane::new(Arc::clone(&self.servers), address.clone(), self.patience));
        Arc::clone(lanes.entry(address.clone()).or_insert_with(make))
    }

    /// Is this an error that passes with time?
    fn passes(&self, error: &RedisError) -> bool {
        breaks_connection(error)
            || is_for_now(error)
            || (is_moved(error) && self.servers.is_cluster())
    }

    /// Goes where the server says the namespace is; false where there is nothing to follow.
    fn follow(&self, namespace: &str, error: &RedisError) -> bool {
        if !is_moved(error) {
            return false;
        }
        let news = error.redirect_node().is_some_and(|(to, _)| self.servers.moved(namespace, to));
        if news {
            self.tell(namespace);
        }
        news
    }

    /// A server answered that nobody had named: it took the place of one that is gone.
    fn note(&self, namespace: &str, address: &str) {
        if self.servers.serves(namespace, address) {
            self.tell(namespace);
        }
    }

    fn tell(&self, namespace: &str) {
        // Nobody listens where the node is gone.
        let _ = self.moves.send(namespace.to_owned());
    }
}

pub(crate) fn breaks_connection(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::Parse
        // A master that is none any more; also where it became a replica during a WAIT.
        || matches!(code_and_detail(error).0, "READONLY" | "UNBLOCKED")
}

/// Is this an answer that is another with time?
fn is_for_now(error: &RedisError) -> bool {
    matches!(error.code(), Some("BUSY"))
        || matches!(
            error.kind(),
            ErrorKind::MasterNameNotFoundBySentinel
                | ErrorKind::Server(
                    ServerErrorKind::Ask
                        | ServerErrorKind::BusyLoading
                        | ServerErrorKind::ClusterDown
                        | ServerErrorKind::MasterDown
                        | ServerErrorKind::NoScript
                        | ServerErrorKind::TryAgain
                )
        )
}

fn is_moved(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::Moved)
}
