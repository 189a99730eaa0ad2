//! The state of Redis: whether it answers, may lose data, or holds what has expired.

use std::time::Duration;

use super::Client;
use crate::error::Error;
use crate::transport::warning::RedisWarning;
use crate::wire::ListNamespacesRequest;

impl Client {
    /// Asks Redis once whether it answers, without a retry.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: it does not.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn ping(&self) -> Result<(), Error> {
        self.engine.scripts.ping().await
    }

    /// Asks Redis how it keeps its data: whether it may evict keys, has no append-only file or never
    /// syncs it, or is a replica. Empty where all is well.
    ///
    /// It asks anew each time, with five short commands to each server: all known masters of a
    /// cluster, else the one server. What needs a right that the user lacks (CONFIG GET, for `save`
    /// and `appendfsync`) is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]: no server answers. There is no retry.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn redis_warnings(&self) -> Result<Vec<RedisWarning>, Error> {
        self.engine.server_check.warnings().await
    }

    /// Ends what has expired in all namespaces, now and whenever something expires there later: what
    /// a server does when it starts. A client does it anyway where it creates or refreshes leases.
    ///
    /// It reads the list of namespaces, and returns; the sweeps follow one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Namespaces that were not read by then are not swept.
    pub async fn sweep_all(&self) -> Result<(), Error> {
        let mut request = ListNamespacesRequest { limit: 250, ..Default::default() };
        loop {
            let page = self.list_namespaces(request.clone()).await?;
            for namespace in page.namespaces {
                self.engine.idle_sweeper.sweep_within(&namespace.name, Duration::ZERO);
            }
            request.pagination_token = page.page.next_pagination_token;
            if request.pagination_token.is_empty() {
                return Ok(());
            }
        }
    }
}
