//! The connection to one server that all commands of a client share.
//!
//! Commands of many tasks travel down one multiplexed connection, which is what makes them fast.
//! The pool makes it, within its time; the lane replaces it when it breaks.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, AsyncConnectionConfig, ErrorKind, RedisError};
use deadpool_redis::{Connection, Manager, Pool, PoolError, Runtime};
use tokio::sync::Mutex;

use crate::config::Config;
use crate::transport::topology::{Address, Servers};

pub(crate) struct Lane {
    servers: Arc<Servers>,
    address: Address,
    patience: Patience,
    current: RwLock<Option<Current>>,
    /// Held while connecting, so that a crowd makes one connection.
    connecting: Mutex<Connecting>,
}

#[derive(Default)]
struct Connecting {
    /// The last connection that was used.
    last: Option<Link>,
    /// The last attempt that failed, for those who waited for it.
    failed: Option<(Instant, RedisError)>,
}

/// How long a connection, and an answer on it, may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    connect: Duration,
    command: Duration,
}

struct Current {
    connection: Connection,
    link: Link,
}

/// A connection as Redis knows it: its number, and the run of the server that counted it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    number: i64,
    run: String,
}

impl Patience {
    /// The same, with that much longer for an answer.
    pub(crate) fn and(self, longer: Duration) -> Self {
        Self { command: self.command + longer, ..self }
    }

    pub(crate) fn of(config: &Config) -> Self {
        Self { connect: config.connect_timeout, command: config.command_timeout }
    }
}

impl Lane {
    /// Connects with the first command.
    pub(crate) fn new(servers: Arc<Servers>, address: Address, patience: Patience) -> Self {
        let (current, connecting) = (RwLock::new(None), Mutex::default());
        Self { servers, address, patience, current, connecting }
    }

    /// The connection, and its number, by which it can be retired.
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
        let made = self.succeed(connecting.last.as_ref()).await;
        let current = made.inspect_err(|error| {
            connecting.failed = Some((Instant::now(), error.clone()));
        })?;
        let handle = (current.connection.as_ref().clone(), current.link.number);
        connecting.last = Some(current.link.clone());
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current);
        Ok(handle)
    }

    /// Makes a connection, and ends the one before on the server.
    ///
    /// Boxed, and its type with it: it is rare, and too deep for the compiler to look through in
    /// every future of the face.
    fn succeed<'a>(
        &'a self,
        last: Option<&'a Link>,
    ) -> Pin<Box<dyn Future<Output = Result<Current, RedisError>> + Send + 'a>> {
        Box::pin(async move {
            let mut connection = self.connect().await?;
            let link = Link::of(&mut connection).await?;
            if let Some(last) = last {
                link.succeeds(last, &mut connection).await?;
            }
            Ok(Current { connection, link })
        })
    }

    async fn connect(&self) -> Result<Connection, RedisError> {
        let Patience { connect, command } = self.patience;
        // Sentinels are asked here, and may be silent.
        let client = tokio::time::timeout(connect, self.servers.client(&self.address)).await;
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
        let handle = |current: &Current| (current.connection.as_ref().clone(), current.link.number);
        current.as_ref().map(handle)
    }

    /// Gives a broken connection up; the next command makes another.
    pub(crate) fn retire(&self, number: i64) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(broken) = current.take_if(|current| current.link.number == number) {
            // Out of the pool: its check would only find out once more that it is broken.
            drop(Connection::take(broken.connection));
        }
    }
}

impl Link {
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

    /// Ends the connection before, if it was to the same run of the server (another counts anew):
    /// what it still has under way must not run after what is sent from now on.
    async fn succeeds(&self, last: &Self, connection: &mut Connection) -> Result<(), RedisError> {
        if last.run != self.run || last.number == self.number {
            return Ok(());
        }
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("ID").arg(last.number);
        match kill.query_async::<i64>(connection).await {
            Err(error) if error.code().is_none() => Err(error),
            Err(error) => {
                tracing::warn!(%error, "CLIENT KILL is refused: a lost connection's last command may run late");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Both commands were refused for one reason.
fn first_of(error: RedisError) -> RedisError {
    let errors = error.clone().into_server_errors();
    let first = errors.and_then(|errors| errors.first().map(|(_, first)| first.clone().into()));
    first.unwrap_or(error)
}

fn pool_error(what: &str) -> RedisError {
    RedisError::from((ErrorKind::Io, "no connection in time", what.to_owned()))
}
