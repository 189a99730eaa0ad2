//! The connection that all commands of a client share.
//!
//! Commands of many tasks travel down one multiplexed connection, which is what makes them fast.
//! The pool makes and checks connections; the lane holds one and replaces it when it breaks.

use std::future::Future;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, AsyncConnectionConfig, ErrorKind, RedisError, ServerErrorKind};
use deadpool_redis::{Connection, Manager, Pool, PoolError, Runtime};
use tokio::sync::Mutex;

use crate::config::Config;
use crate::error::Error;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Lane {
    pool: Pool,
    current: RwLock<Option<Current>>,
    /// Held while connecting, so that a crowd makes one connection; remembers the last one's id.
    connecting: Mutex<Option<Link>>,
    retry_for: Duration,
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

impl Lane {
    /// Makes the pool; connects with the first command.
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let timeouts = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout));
        let manager = Manager::new_with_config(config.redis_url.as_str(), timeouts)
            .map_err(|error| bad_url(&error))?;
        let pool = Pool::builder(manager)
            .max_size(1)
            .runtime(Runtime::Tokio1)
            .create_timeout(Some(config.connect_timeout))
            .recycle_timeout(Some(config.connect_timeout))
            .wait_timeout(Some(config.connect_timeout))
            .build()
            .map_err(|error| Error::internal(error.to_string()))?;
        let retry_for = config.retry_for;
        Ok(Self { pool, current: RwLock::new(None), connecting: Mutex::new(None), retry_for })
    }

    /// Runs `attempt`, again over lost connections, until the retry time is over.
    ///
    /// What is run has to bear being run twice. No attempt is overtaken by an earlier one: a new
    /// connection ends the old one on the server before it is used. The flag beside an error says
    /// whether an earlier attempt may have run as well.
    pub(crate) async fn run<T, F>(
        &self,
        attempt: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, (Error, bool)>
    where
        F: Future<Output = Result<T, RedisError>>,
    {
        let (began, mut pause, mut retried) = (Instant::now(), FIRST_PAUSE, false);
        loop {
            let error = match self.connection().await {
                Ok((connection, number)) => match attempt(connection).await {
                    Ok(value) => return Ok(value),
                    Err(error) if breaks_connection(&error) => {
                        self.retire(number);
                        error
                    }
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if !passes(&error) || began.elapsed() + pause > self.retry_for {
                return Err((Error::from_redis(error), retried));
            }
            retried = true;
            tracing::debug!(%error, "Redis does not answer; trying again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One PING, without a second try.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        let (mut connection, number) = self.connection().await.map_err(Error::from_redis)?;
        let pong = redis::cmd("PING").query_async(&mut connection).await;
        pong.map_err(|error: RedisError| {
            if breaks_connection(&error) {
                self.retire(number);
            }
            Error::from_redis(error)
        })
    }

    async fn connection(&self) -> Result<(MultiplexedConnection, i64), RedisError> {
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let mut last = self.connecting.lock().await;
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let mut connection = self.pool.get().await.map_err(pool_error)?;
        let link = Link::of(&mut connection).await?;
        if let Some(last) = last.replace(link.clone()) {
            link.succeeds(&last, &mut connection).await;
        }
        let handle = (connection.as_ref().clone(), link.number);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) =
            Some(Current { connection, link });
        Ok(handle)
    }

    fn current(&self) -> Option<(MultiplexedConnection, i64)> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let handle = |current: &Current| (current.connection.as_ref().clone(), current.link.number);
        current.as_ref().map(handle)
    }

    fn retire(&self, number: i64) {
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
            .await?;
        let run = server.lines().find_map(|line| line.strip_prefix("run_id:"));
        Ok(Self { number, run: run.unwrap_or_default().to_owned() })
    }

    /// Ends the connection before, if it was to the same run of the server (another counts anew):
    /// what it still has under way must not run after what is sent from now on.
    async fn succeeds(&self, last: &Self, connection: &mut Connection) {
        if last.run != self.run || last.number == self.number {
            return;
        }
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("ID").arg(last.number);
        if let Err(error) = kill.query_async::<i64>(connection).await {
            tracing::warn!(%error, "CLIENT KILL is refused: a command of a lost connection may run late");
        }
    }
}

fn breaks_connection(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || matches!(error.kind(), ErrorKind::Parse | ErrorKind::Server(ServerErrorKind::ReadOnly))
}

/// Is this an error that passes with time?
fn passes(error: &RedisError) -> bool {
    breaks_connection(error)
        || matches!(error.code(), Some("BUSY"))
        || matches!(
            error.kind(),
            ErrorKind::Server(
                ServerErrorKind::BusyLoading
                    | ServerErrorKind::TryAgain
                    | ServerErrorKind::ClusterDown
                    | ServerErrorKind::MasterDown
                    | ServerErrorKind::NoScript
            )
        )
}

fn pool_error(error: PoolError) -> RedisError {
    match error {
        PoolError::Backend(error) => error,
        other => RedisError::from((ErrorKind::Io, "no connection in time", other.to_string())),
    }
}

fn bad_url(error: &RedisError) -> Error {
    Error::InvalidField {
        field: "redis_url",
        reason: format!(
            "{error}: give redis://[user:password@]host[:port][/db] or redis+unix:///path"
        ),
    }
}
