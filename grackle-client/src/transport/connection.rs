//! The connection to one server that all commands of a client share.
//!
//! Commands of many tasks travel down one multiplexed connection, which is what makes them fast.
//! The pool makes it within its time limit. It is replaced when it breaks.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, AsyncConnectionConfig, ErrorKind, RedisError};
use deadpool_redis::{Connection, Manager, Pool, PoolError, Runtime};
use tokio::sync::Mutex;

use crate::config::Config;
use crate::transport::topology::{Address, Topology};

pub(crate) struct ServerConnection {
    topology: Arc<Topology>,
    address: Address,
    timeouts: Timeouts,
    current: RwLock<Option<Current>>,
    /// Held while connecting, so that a crowd makes one connection.
    connecting: Mutex<Connecting>,
}

#[derive(Default)]
struct Connecting {
    /// The last connection that was used.
    last: Option<ConnectionId>,
    /// The last attempt that failed, for those who waited for it.
    failed: Option<(Instant, RedisError)>,
}

/// How long connecting, and one command, may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    connect: Duration,
    command: Duration,
}

struct Current {
    connection: Connection,
    id: ConnectionId,
}

/// A connection as Redis knows it: its number, and the run of the server that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ConnectionId {
    number: i64,
    run: String,
}

impl Timeouts {
    /// The same, with that much more time for a command.
    pub(crate) fn with_longer_commands(self, longer: Duration) -> Self {
        Self { command: self.command + longer, ..self }
    }

    pub(crate) fn of(config: &Config) -> Self {
        Self { connect: config.connect_timeout, command: config.command_timeout }
    }
}

impl ServerConnection {
    /// Does not connect before the first command.
    pub(crate) fn new(topology: Arc<Topology>, address: Address, timeouts: Timeouts) -> Self {
        let (current, connecting) = (RwLock::new(None), Mutex::default());
        Self { topology, address, timeouts, current, connecting }
    }

    /// The connection, and the number by which [`retire`](Self::retire) knows it.
    pub(crate) async fn connection(&self) -> Result<(MultiplexedConnection, i64), RedisError> {
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let asked = Instant::now();
        let mut connecting = self.connecting.lock().await;
        if let Some(current) = self.current() {
            return Ok(current);
        }
        if let Some((at, error)) = &connecting.failed
            && *at >= asked
        {
            return Err(error.clone());
        }
        let made = self.replace(connecting.last.as_ref()).await;
        let current = made.inspect_err(|error| {
            connecting.failed = Some((Instant::now(), error.clone()));
        })?;
        let handle = (current.connection.as_ref().clone(), current.id.number);
        connecting.last = Some(current.id.clone());
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current);
        Ok(handle)
    }

    /// Makes a connection, and ends the previous one on the server.
    ///
    /// Boxed: it is rare, and its type would make every future of the client too deep for the
    /// compiler.
    fn replace<'a>(
        &'a self,
        last: Option<&'a ConnectionId>,
    ) -> Pin<Box<dyn Future<Output = Result<Current, RedisError>> + Send + 'a>> {
        Box::pin(async move {
            let mut connection = self.connect().await?;
            let id = ConnectionId::of(&mut connection).await?;
            if let Some(last) = last {
                id.end_previous(last, &mut connection).await?;
            }
            Ok(Current { connection, id })
        })
    }

    async fn connect(&self) -> Result<Connection, RedisError> {
        let Timeouts { connect, command } = self.timeouts;
        // This may ask Sentinels, which may not answer.
        let client = tokio::time::timeout(connect, self.topology.client(&self.address)).await;
        let client = client.map_err(|_| pool_error("no Sentinel names a master"))??;
        let timeouts = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(connect))
            .set_response_timeout(Some(command));
        let manager = Manager::new_with_config(client.get_connection_info().clone(), timeouts)?;
        let pool = Pool::builder(manager)
            .max_size(1)
            .runtime(Runtime::Tokio1)
            .create_timeout(Some(connect))
            .build()
            .map_err(|error| pool_error(&error.to_string()))?;
        pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => error,
            other => pool_error(&other.to_string()),
        })
    }

    fn current(&self) -> Option<(MultiplexedConnection, i64)> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let handle = |current: &Current| (current.connection.as_ref().clone(), current.id.number);
        current.as_ref().map(handle)
    }

    /// Drops a broken connection; the next command makes another.
    pub(crate) fn retire(&self, number: i64) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(broken) = current.take_if(|current| current.id.number == number) {
            // Taken out of the pool, whose check would only find once more that it is broken.
            drop(Connection::take(broken.connection));
        }
    }
}

impl ConnectionId {
    async fn of(connection: &mut Connection) -> Result<Self, RedisError> {
        let (number, server): (i64, String) = redis::pipe()
            .cmd("CLIENT")
            .arg("ID")
            .cmd("INFO")
            .arg("server")
            .query_async(connection)
            .await
            .map_err(first_of)?;
        let run = server.lines().find_map(|line| line.strip_prefix("run_id:"));
        Ok(Self { number, run: run.unwrap_or_default().to_owned() })
    }

    /// Ends the previous connection, if it was to the same run of the server (a restarted one counts
    /// from 1 again): a command that it still carries must not run after those sent from now on.
    async fn end_previous(
        &self,
        last: &Self,
        connection: &mut Connection,
    ) -> Result<(), RedisError> {
        if last.run != self.run || last.number == self.number {
            return Ok(());
        }
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("ID").arg(last.number);
        match kill.query_async::<i64>(connection).await {
            Err(error) if error.code().is_none() => Err(error),
            Err(error) => {
                tracing::warn!(%error, "Redis refuses CLIENT KILL, so the last command of a lost connection may run late; \
                     give this user the right +client");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Both commands of the pipeline were refused for the same reason.
fn first_of(error: RedisError) -> RedisError {
    let errors = error.clone().into_server_errors();
    let first = errors.and_then(|errors| errors.first().map(|(_, first)| first.clone().into()));
    first.unwrap_or(error)
}

fn pool_error(what: &str) -> RedisError {
    RedisError::from((ErrorKind::Io, "no connection in time", what.to_owned()))
}
