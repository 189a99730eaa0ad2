//! Plain semaphores: down and up, for permits that no lease owns.

use super::Client;
use crate::error::Error;
use crate::types::SemaphoreName;
use crate::validate;
use crate::wire::{
    DownSemaphoreRequest, DownSemaphoreResponse, SemaphoreResponse, UpSemaphoreRequest,
};

impl Client {
    /// Takes one permit that no lease owns; waits up to `timeout_seconds` in the same queue as the calls
    /// that [acquire](Self::acquire_semaphore).
    ///
    /// Only an [`up_semaphore`](Self::up_semaphore) ends such a hold, and anybody may call it: a process
    /// that dies keeps its permits. Use it where the counter itself is what you want (a classical
    /// semaphore, a count of free slots); everywhere else acquire under a lease. All downs of a
    /// semaphore are one holder, `ownerless`, whose weight is their number.
    ///
    /// While it waits, it uses a proxy lease of this client: its id begins with `proxy_`, its
    /// `process_id` is `node/` and the client's id, no request can name it, and it expires within 30 s
    /// after this process dies.
    ///
    /// Not getting the permit is no error: see [`AcquireOutcome`](crate::wire::AcquireOutcome).
    ///
    /// # Errors
    ///
    /// - [`Error::SemaphoreNotFound`], [`Error::NamespaceNotFound`]: before or during the wait.
    /// - [`Error::ResourceExhausted`]: it has to wait, and `max_waiters` or `max_leases` is reached.
    /// - [`Error::Unavailable`]: if a permit was taken, it is given back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue; a permit that was taken meanwhile is given back. A task on
    /// the runtime that connected the client does this: if that runtime has ended, a permit that was
    /// taken without a wait stays taken.
    pub async fn down_semaphore(
        &self,
        request: DownSemaphoreRequest,
    ) -> Result<DownSemaphoreResponse, Error> {
        let DownSemaphoreRequest { namespace_name, semaphore_name, timeout_seconds } = request;
        validate::names(&namespace_name, &semaphore_name)?;
        validate::timeout(timeout_seconds, &self.limits)?;
        let semaphore = SemaphoreName { namespace: namespace_name, name: semaphore_name };
        self.engine.downs.down(&semaphore, timeout_seconds).await
    }

    /// Gives back one permit that a [`down_semaphore`](Self::down_semaphore) of anybody took, and admits
    /// the waiters that now fit. If no permit is taken, the semaphore has one permit more from now on,
    /// and another version. (For a moment this also happens while a permit is being handed to a down that
    /// waited: then `permits` and `active_holds` are both one higher.)
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::ResourceExhausted`]: `permits`: the semaphore has 2^53 − 1.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Called again, it happens again.
    pub async fn up_semaphore(
        &self,
        request: UpSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let UpSemaphoreRequest { namespace_name: namespace, semaphore_name: name } = request;
        validate::names(&namespace, &name)?;
        let semaphore = self.engine.ups.up(&SemaphoreName { namespace, name }).await?;
        Ok(SemaphoreResponse { semaphore })
    }
}
