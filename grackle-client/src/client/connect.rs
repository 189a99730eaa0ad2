//! A client: made, and shut down.

use std::fmt;
use std::sync::Arc;

use crate::config::{Config, Limits};
use crate::engine::Engine;
use crate::error::Error;

/// A connection to the semaphores of one Redis; cheap to clone, made to be shared.
///
/// All clones share their connections to Redis (to each server of a cluster): one for commands; one
/// for messages, once a call has had to wait or somebody watches; one more where grants wait for
/// replicas. It does not matter how many calls wait.
///
/// # Errors
///
/// Every operation can fail with these, besides the errors that it names:
///
/// - [`Error::InvalidField`]: a field is out of its range. Nothing was sent.
/// - [`Error::Unavailable`]: Redis did not answer within [`Config::retry_for`]. The operation may
///   have happened or not. Calling it again is safe, except for
///   [`up_semaphore`](Self::up_semaphore).
///
/// # Cancel safety
///
/// If you drop the future of an operation other than
/// [`acquire_semaphore`](Self::acquire_semaphore) and [`down_semaphore`](Self::down_semaphore), you
/// don't know whether the operation happened. Calling it again is safe, except for
/// [`up_semaphore`](Self::up_semaphore).
#[derive(Clone)]
pub struct Client {
    pub(super) engine: Arc<Engine>,
    pub(super) limits: Arc<Limits>,
}

impl Client {
    /// Connects to the Redis at a URL, with the defaults of [`Config`].
    ///
    /// # Errors
    ///
    /// As [`connect_with`](Self::connect_with).
    ///
    /// # Cancel safety
    ///
    /// As [`connect_with`](Self::connect_with).
    pub async fn connect(redis_url: &str) -> Result<Self, Error> {
        Self::connect_with(Config::new(redis_url)).await
    }

    /// Connects, and checks that Redis answers and that the user may do what Grackle needs.
    ///
    /// Each of the [`redis_warnings`](Self::redis_warnings) is logged once.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidField`]: a setting is wrong; the error names it.
    /// - [`Error::Unavailable`]: no Redis answers at that address, it refuses the user, or it is a
    ///   replica.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. Nothing is left in Redis.
    pub async fn connect_with(config: Config) -> Result<Self, Error> {
        config.validate()?;
        let engine = Arc::new(Engine::start(&config)?);
        engine.scripts.ping().await?;
        // Before any script: on a replica each would be retried until the time is over.
        let warnings = engine.server_check.warnings_of_usable().await?;
        engine.scripts.check().await?;
        if config.replica_acks.is_some() {
            engine.scripts.check_wait().await?;
        }
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        Ok(Self { engine, limits: Arc::new(config.limits) })
    }

    /// Parks the waiting calls of this client, and ends them and all streams of watches with
    /// [`Error::Unavailable`]. From now on no call waits on this client, and nothing is watched.
    ///
    /// The leases of these calls get their places back when they ask again through another client.
    /// Calls that need not wait still work. If Redis does not answer within 2 s, the calls end all
    /// the same, and their places are handled like those of a process that dies.
    ///
    /// Afterwards it waits up to 2 s until what dropped calls have left in Redis is taken back. Calls
    /// that are dropped later need another shutdown.
    ///
    /// # Errors
    ///
    /// None: what could not be done is logged.
    ///
    /// # Cancel safety
    ///
    /// Call it again, and it continues where it was.
    pub async fn shutdown(&self) {
        self.engine.shutdown.run().await;
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.engine.tickets.node_id();
        f.debug_struct("Client").field("node", &node).finish_non_exhaustive()
    }
}
