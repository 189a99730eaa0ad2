//! The face of the SDK: each operation checks its request and hands it to the scripts.

mod leases;
mod namespaces;
mod observe;
mod permits;
mod plain;
mod semaphores;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Config, Limits};
use crate::engine::Node;
use crate::error::Error;
use crate::transport::warning::RedisWarning;
use crate::validate;
use crate::wire::ListNamespacesRequest;

/// A connection to the semaphores of one Redis; cheap to clone, made to be shared.
///
/// All clones share two connections to Redis (to each server of a cluster), one for commands and,
/// once a call has had to wait or somebody watches, one for wake-ups, however many do; a third where
/// grants wait for replicas.
///
/// # Errors
///
/// Every operation can end in these, besides the ones that it names:
///
/// - [`Error::InvalidField`]: a field is out of its range. Nothing was sent.
/// - [`Error::Unavailable`]: Redis did not answer within [`Config::retry_for`]. What was asked may
///   have happened or not; asking again is safe, but for [`up_semaphore`](Self::up_semaphore).
///
/// # Cancel safety
///
/// Dropping the future of an operation other than [`acquire_semaphore`](Self::acquire_semaphore)
/// leaves open whether it happened. Asking again is safe, but for
/// [`up_semaphore`](Self::up_semaphore).
#[derive(Clone)]
pub struct Client {
    node: Arc<Node>,
    limits: Arc<Limits>,
}

impl Client {
    /// Connects to the Redis at a URL, with the defaults of [`Config`].
    ///
    /// # Errors
    ///
    /// As [`connect_with`](Self::connect_with).
    pub async fn connect(redis_url: &str) -> Result<Self, Error> {
        Self::connect_with(Config::new(redis_url)).await
    }

    /// Connects, asks Redis once whether it is there, and sees that the user may do what is needed.
    ///
    /// Each of the [`redis_warnings`](Self::redis_warnings) is logged once.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidField`]: a setting is wrong; it is named.
    /// - [`Error::Unavailable`]: no Redis answers at that address, it refuses the user, or it is a
    ///   replica.
    pub async fn connect_with(config: Config) -> Result<Self, Error> {
        config.validate()?;
        let node = Node::start(&config)?;
        let client = Self { node, limits: Arc::new(config.limits) };
        client.ping().await?;
        // Before a script is tried: on a replica each is, in vain, until the time is over.
        let warnings = client.warnings_of_usable().await?;
        client.node.scripts.check().await?;
        if config.replica_acks.is_some() {
            client.node.scripts.check_wait().await?;
        }
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        Ok(client)
    }

    /// The warnings, unless one of them is that nothing can be done here. None of a Redis that
    /// can't be looked at: whether it can be used is seen by what comes next.
    async fn warnings_of_usable(&self) -> Result<Vec<RedisWarning>, Error> {
        let looked = self.redis_warnings().await;
        let looked = looked.inspect_err(|error| tracing::debug!(%error, "no look at Redis"));
        let warnings = looked.unwrap_or_default();
        match warnings.iter().find(|warning| warning.is_fatal() && self.node.has_one_server()) {
            Some(fatal) => Err(Error::Unavailable {
                reason: fatal.to_string(),
                source: Some(Box::new(fatal.clone())),
            }),
            None => Ok(warnings),
        }
    }

    /// Asks Redis once whether it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: it is not.
    pub async fn ping(&self) -> Result<(), Error> {
        self.node.scripts.ping().await
    }

    /// Looks at how Redis keeps what it is told: whether it may evict keys, has no append-only file
    /// or never syncs it, or is a replica. None where all is well.
    ///
    /// Looks anew each time, by five short commands to each server: all masters of a cluster that
    /// are known so far, else the one. What needs a right that the user lacks (CONFIG GET, for the
    /// save points and `appendfsync`) is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: no server answers; it is not tried again.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn redis_warnings(&self) -> Result<Vec<RedisWarning>, Error> {
        self.node.redis_warnings().await
    }

    /// Sets the waiters of this client aside and ends their calls, and the streams of those who watch,
    /// with [`Error::Unavailable`]; from now on no call waits here, and nothing is watched.
    ///
    /// Their leases get their old places back when they ask again through another client. Calls
    /// that need not wait still work. Where Redis does not answer, the calls end after 2 s all the
    /// same, and their places go as those of a node that dies.
    ///
    /// Then it waits, 2 s at most, until what dropped calls have left is taken back. A call that is
    /// dropped later leaves more: shut down once again when all are over.
    ///
    /// # Cancel safety
    ///
    /// Call it again: it goes on where it was.
    pub async fn shutdown(&self) {
        self.node.close().await;
    }

    /// Clears away what has ended in any namespace, and from then on whatever ends there: what a
    /// server does at its start. A client does it by itself where it makes or refreshes leases.
    ///
    /// Asks once for each namespace, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// What was not looked at by then is not.
    pub async fn tidy_all(&self) -> Result<(), Error> {
        let mut request = ListNamespacesRequest { limit: 250, ..Default::default() };
        loop {
            let page = self.list_namespaces(request.clone()).await?;
            for namespace in page.namespaces {
                self.node.tidy.expect(&namespace.name, Duration::ZERO);
            }
            request.pagination_token = page.page.next_pagination_token;
            if request.pagination_token.is_empty() {
                return Ok(());
            }
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("node", &self.node.id).finish_non_exhaustive()
    }
}

fn namespace_name(name: &str) -> Result<(), Error> {
    validate::name("namespace_name", name)
}

fn names(namespace: &str, semaphore: &str) -> Result<(), Error> {
    namespace_name(namespace)?;
    validate::name("semaphore_name", semaphore)
}

fn seconds(seconds: i64) -> Duration {
    Duration::from_secs(seconds.unsigned_abs())
}
