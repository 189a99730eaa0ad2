//! Permits without an owner: down and up.

use super::{Client, names};
use crate::engine::plain::down;
use crate::error::Error;
use crate::types::SemaphoreName;
use crate::validate;
use crate::wire::{
    DownSemaphoreRequest, DownSemaphoreResponse, SemaphoreResponse, UpSemaphoreRequest,
};

impl Client {
    /// Takes one permit that no lease owns, waiting up to `timeout_seconds` in the same queue as
    /// those who [acquire](Self::acquire_semaphore).
    ///
    /// Nothing ends such a hold but an [`up_semaphore`](Self::up_semaphore), by anybody: a process
    /// that dies keeps it. Use it where the counter itself is what you want (a classical semaphore, a
    /// count of free slots); everywhere else acquire under a lease. All downs of a semaphore are one
    /// holder, `ownerless`, whose weight is how many they are.
    ///
    /// While it waits, it stands under a lease of this client's own (`down_…`, whose `process_id` is `node/`
    /// and the client's id), which no request can name, and which ends within 30 s where this process dies.
    ///
    /// Not getting the permit is no error: see [`AcquireOutcome`](crate::wire::AcquireOutcome).
    ///
    /// # Errors
    ///
    /// - [`Error::SemaphoreNotFound`], [`Error::NamespaceNotFound`]: before or during the wait.
    /// - [`Error::ResourceExhausted`]: `max_waiters`, or `max_leases`, where it has to wait.
    /// - [`Error::Unavailable`]: the permit is given back, should it have been taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue; a permit that was taken meanwhile is given back. The
    /// work is done by a task of the runtime on which the client was connected: where that has ended
    /// just then, a permit that was taken without a wait stays taken.
    pub async fn down_semaphore(
        &self,
        request: DownSemaphoreRequest,
    ) -> Result<DownSemaphoreResponse, Error> {
        let DownSemaphoreRequest { namespace_name, semaphore_name, timeout_seconds } = request;
        names(&namespace_name, &semaphore_name)?;
        validate::timeout(timeout_seconds, &self.limits)?;
        let semaphore = SemaphoreName { namespace: namespace_name, name: semaphore_name };
        down::run(&self.node, &semaphore, timeout_seconds).await
    }

    /// Gives one permit back that a [`down_semaphore`](Self::down_semaphore) took, whoever called
    /// that, and admits whoever now fits. Where none is taken the semaphore has one permit more from now
    /// on, and another version (for a moment also where what was taken is on its way to a down that
    /// waited: `permits` and `active_holds` are both one more then).
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::ResourceExhausted`]: `permits`: there are 2^53 − 1.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves open whether it happened. Asked again, it happens again.
    pub async fn up_semaphore(
        &self,
        request: UpSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let UpSemaphoreRequest { namespace_name: namespace, semaphore_name: name } = request;
        names(&namespace, &name)?;
        let of = SemaphoreName { namespace, name };
        let (node, ticket) = (&self.node, self.node.ticket());
        let heard = node.heard.take(&of);
        let semaphore = node.scripts.up(&of.namespace, &of.name, &ticket, &heard).await?;
        node.has_heard(&of, ticket);
        node.convoys.state(&of.namespace, &semaphore);
        Ok(SemaphoreResponse { semaphore })
    }
}
