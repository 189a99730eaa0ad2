//! Runs commands on the server that has the namespace, and retries them where that helps.
//!
//! There is one connection to each server, shared by all commands of a client.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, ErrorKind, RedisError, ServerErrorKind};
use futures_util::future::join_all;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::connection_error::code_and_detail;
use crate::error::Error;
use crate::transport::backoff::Backoff;
use crate::transport::connection::{ServerConnection, Timeouts};
use crate::transport::topology::{Address, Topology};

/// How long each server may take where all of them are asked.
const ASK_ALL_WITHIN: Duration = Duration::from_secs(1);

pub(crate) struct Router {
    topology: Arc<Topology>,
    timeouts: Timeouts,
    retry_for: Duration,
    connections: RwLock<HashMap<Address, Arc<ServerConnection>>>,
    moves: mpsc::UnboundedSender<String>,
}

impl Router {
    /// `moves` receives the name of each namespace that turns out to be on another server.
    pub(crate) fn new(
        config: &Config,
        topology: Arc<Topology>,
        moves: mpsc::UnboundedSender<String>,
    ) -> Self {
        let (timeouts, retry_for) = (Timeouts::of(config), config.retry_for);
        Self { topology, timeouts, retry_for, connections: RwLock::default(), moves }
    }

    /// Runs `attempt` on the server that has the namespace; retries it over lost connections until
    /// the retry time is over.
    ///
    /// `attempt` must be safe to run twice. An earlier attempt never runs after a later one: a new
    /// connection first ends the old one on the server. The flag beside an error tells whether an
    /// earlier attempt may have run as well.
    pub(crate) async fn run<T, F>(
        &self,
        namespace: &str,
        attempt: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, (Error, bool)>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let (began, mut backoff, mut retried) = (Instant::now(), Backoff::new(), false);
        let mut followed = false;
        loop {
            let address = self.topology.address(namespace);
            let error = match self.attempt(&address, namespace, &attempt).await {
                Ok(value) => {
                    self.note_owner(namespace, &address);
                    return Ok(value);
                }
                Err(error) => error,
            };
            if !self.may_pass(&error) || began.elapsed() + backoff.pause() > self.retry_for {
                return Err((Error::from_redis(error), retried));
            }
            retried = true;
            // While a slot changes hands two servers may name each other: pause at each second turn.
            followed = self.follow(namespace, &error) && !followed;
            if !followed {
                tracing::debug!(%error, namespace, "Redis does not answer; retrying");
                backoff.wait().await;
            }
        }
    }

    /// Sends one PING, without a retry; in a cluster, to the first server that can be reached.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        let ping = |mut connection| async move {
            redis::cmd("PING").query_async::<String>(&mut connection).await
        };
        let mut others = self.topology.count() - 1;
        loop {
            match self.attempt(&self.topology.address(""), "", &ping).await {
                Err(error) if others > 0 && breaks_connection(&error) => others -= 1,
                answer => return answer.map(drop).map_err(Error::from_redis),
            }
        }
    }

    /// Asks all known servers, at once and without a retry. Servers that do not answer in time are
    /// left out, unless none does.
    pub(crate) async fn ask_all<T, F>(
        &self,
        attempt: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<Vec<(Address, T)>, Error>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let asked = self.topology.addresses().into_iter().map(|address| async {
            let on_server = self.on_server(&address, &attempt);
            match tokio::time::timeout(ASK_ALL_WITHIN, on_server).await {
                Ok(answer) => answer.map(|answer| (address, answer)).map_err(Error::from_redis),
                Err(_) => Err(silent()),
            }
        });
        let (answers, failed): (Vec<_>, Vec<_>) =
            join_all(asked).await.into_iter().partition(Result::is_ok);
        match failed.into_iter().find_map(Result::err) {
            Some(error) if answers.is_empty() => Err(error),
            _ => Ok(answers.into_iter().flatten().collect()),
        }
    }

    /// Makes the next command connect anew: the address may lead to another server by now.
    pub(crate) async fn reconnect(&self, address: &Address) {
        let server = self.connection_to(address);
        if let Ok((_, number)) = server.connection().await {
            server.retire(number);
        }
    }

    async fn attempt<T, F>(
        &self,
        address: &Address,
        namespace: &str,
        attempt: &impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let server = self.connection_to(address);
        let unreachable = || self.topology.unreachable(namespace, address);
        let (connection, number) = server.connection().await.inspect_err(|_| unreachable())?;
        retiring(&server, number, attempt(connection)).await.inspect_err(|error| {
            // A server that reports CLUSTERDOWN may be the only one that is cut off.
            if error.kind() == ErrorKind::Server(ServerErrorKind::ClusterDown) {
                unreachable();
            }
        })
    }

    async fn on_server<T, F>(
        &self,
        address: &Address,
        attempt: &impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, RedisError>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let server = self.connection_to(address);
        let (connection, number) = server.connection().await?;
        retiring(&server, number, attempt(connection)).await
    }

    fn connection_to(&self, address: &Address) -> Arc<ServerConnection> {
        let connections = self.connections.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connections.get(address) {
            return Arc::clone(connection);
        }
        drop(connections);
        let mut connections = self.connections.write().unwrap_or_else(PoisonError::into_inner);
        let connection = connections.entry(address.clone()).or_insert_with(|| {
            let topology = Arc::clone(&self.topology);
            Arc::new(ServerConnection::new(topology, address.clone(), self.timeouts))
        });
        Arc::clone(connection)
    }

    /// Can the same command succeed later?
    fn may_pass(&self, error: &RedisError) -> bool {
        breaks_connection(error)
            || is_temporary(error)
            || (is_moved(error) && self.topology.is_cluster())
    }

    /// Notes where the server says that the namespace is; false where that is no news.
    fn follow(&self, namespace: &str, error: &RedisError) -> bool {
        if !is_moved(error) {
            return false;
        }
        let news = error.redirect_node().is_some_and(|(to, _)| self.topology.moved(namespace, to));
        if news {
            self.announce_move(namespace);
        }
        news
    }

    /// A server answered for the namespace that no other had named: it replaced one that is gone.
    fn note_owner(&self, namespace: &str, address: &str) {
        if self.topology.serves(namespace, address) {
            self.announce_move(namespace);
        }
    }

    fn announce_move(&self, namespace: &str) {
        // The receiver is gone where the client is.
        let _ = self.moves.send(namespace.to_owned());
    }
}

/// Retires the connection where the command shows that it is broken.
async fn retiring<T>(
    server: &ServerConnection,
    number: i64,
    command: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    command.await.inspect_err(|error| {
        if breaks_connection(error) {
            server.retire(number);
        }
    })
}

fn silent() -> Error {
    Error::unavailable(format!("no answer from Redis within {ASK_ALL_WITHIN:?}"))
}

pub(crate) fn breaks_connection(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::Parse
        // The server is no longer a master; UNBLOCKED: it became a replica during a WAIT.
        || matches!(code_and_detail(error).0, "READONLY" | "UNBLOCKED")
}

/// Does the server ask to try again later?
fn is_temporary(error: &RedisError) -> bool {
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
