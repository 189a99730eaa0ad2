//! Permits: acquired and released; holders and waiters.

use super::Client;
use crate::engine;
use crate::error::Error;
use crate::pagination;
use crate::validate;
use crate::wire::{
    AcquireSemaphoreRequest, AcquireSemaphoreResponse, GetSemaphoreWaiterRequest,
    ListSemaphoreHoldersRequest, ListSemaphoreHoldersResponse, ListSemaphoreWaitersRequest,
    ListSemaphoreWaitersResponse, ReleaseSemaphoreRequest, SemaphoreResponse,
    SemaphoreWaiterResponse,
};

impl Client {
    /// Acquires `weight` permits under a lease, all or none; waits up to `timeout_seconds`.
    ///
    /// Waiters are admitted in the order of their arrival and nobody overtakes, unless the semaphore has
    /// another [`QueueDiscipline`](crate::wire::QueueDiscipline). A heavy request at the head of the
    /// queue blocks the lighter ones behind it.
    ///
    /// A lease has one hold on a semaphore. If it acquires again, weight, metadata and `locked_at` of
    /// that hold are replaced. Less weight frees the difference at once. More weight needs only the
    /// difference and goes ahead of the queue; until it is granted the old hold stays as it is.
    ///
    /// Several calls of one lease that wait for one semaphore are one waiter, with up to 64 calls. The
    /// weight and metadata of the last call count, even after that call gives up, and one grant answers
    /// all.
    ///
    /// With [`Config::replica_acks`](crate::Config::replica_acks) a granted call also waits until enough
    /// replicas have the grant, or their time is over.
    /// [`acked_replicas`](AcquireSemaphoreResponse::acked_replicas) tells how many are known to have it.
    /// Fewer than you asked for is no error.
    ///
    /// Not getting the permits is no error: see [`AcquireOutcome`](crate::wire::AcquireOutcome). With
    /// [`explain`](AcquireSemaphoreRequest::explain) the answer says why. While the call waits,
    /// [`get_semaphore_waiter`](Self::get_semaphore_waiter) does.
    ///
    /// # Errors
    ///
    /// - [`Error::WeightExceedsPermits`]: it could never be granted. It is refused at once, or when the
    ///   permits are lowered during the wait.
    /// - [`Error::LeaseNotFound`]: the lease has ended, before or during the wait.
    /// - [`Error::SemaphoreNotFound`], [`Error::NamespaceNotFound`]: it did not exist, or was deleted
    ///   during the wait.
    /// - [`Error::ResourceExhausted`]: `max_waiters` (of this semaphore, or of all), `max_holders`,
    ///   `max_holds_per_lease` or `max_calls_per_wait` (64, fixed) is reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue. A grant that crossed with the drop, or that waits for
    /// replicas, is undone, and the hold goes back to what it was. A task on the runtime that connected
    /// the client does this; if that runtime has ended, the end of the lease does. (With
    /// [`OnDrop::Park`](crate::OnDrop::Park) the place is kept for a while instead.)
    pub async fn acquire_semaphore(
        &self,
        request: AcquireSemaphoreRequest,
    ) -> Result<AcquireSemaphoreResponse, Error> {
        validate::names(&request.namespace_name, &request.semaphore_name)?;
        validate::lease_id(&request.lease_id)?;
        validate::permits("weight", request.weight)?;
        validate::timeout(request.timeout_seconds, &self.limits)?;
        validate::share(request.share)?;
        validate::metadata(&request.metadata)?;
        engine::acquire(&self.engine.acquirer, &request).await
    }

    /// Releases a lease's hold on a semaphore and admits the waiters that now fit. If the lease holds
    /// nothing there, nothing happens.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`], [`Error::SemaphoreNotFound`].
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again.
    pub async fn release_semaphore(
        &self,
        request: ReleaseSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let ReleaseSemaphoreRequest { namespace_name: ns, semaphore_name: name, lease_id } =
            &request;
        validate::names(ns, name)?;
        validate::lease_id(lease_id)?;
        let semaphore = self.engine.scripts.release(ns, name, lease_id).await?;
        Ok(SemaphoreResponse { semaphore })
    }

    /// Returns a page of a semaphore's holders in the order of `locked_at`, without those whose lease has
    /// expired.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_semaphore_holders(
        &self,
        request: ListSemaphoreHoldersRequest,
    ) -> Result<ListSemaphoreHoldersResponse, Error> {
        let (ns, name) = (request.namespace_name.as_str(), request.semaphore_name.as_str());
        validate::names(ns, name)?;
        let list = ["holders", ns, name];
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.engine.scripts.list_semaphore_holders(ns, name, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreHoldersResponse { holders: reply.entries, page })
    }

    /// Returns a page of a semaphore's waiters in the order in which they are admitted.
    ///
    /// Parked waiters (`set_aside`, with `position` 0) are listed among the others, at the place that
    /// they get back. A waiter that is parked or comes back meanwhile is listed exactly once.
    ///
    /// In a weighted queue, after waiters of a process have given up, those of the same process are
    /// listed later than they will be admitted: only the first of a process moves up at once. So their
    /// [`position`](crate::wire::Waiting::position) and `weight_ahead` are too high.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::InvalidField`]: `pagination_token`: the discipline of the queue has changed; start again
    ///   with the first page.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_semaphore_waiters(
        &self,
        request: ListSemaphoreWaitersRequest,
    ) -> Result<ListSemaphoreWaitersResponse, Error> {
        let (ns, name) = (request.namespace_name.as_str(), request.semaphore_name.as_str());
        validate::names(ns, name)?;
        let list = ["waiters", ns, name];
        let limit = pagination::limit(request.limit)?;
        let (from, order) = pagination::from_ordered(&request.pagination_token, &list)?;
        let scripts = &self.engine.scripts;
        let reply = scripts.list_semaphore_waiters(ns, name, &from, limit, &order).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreWaitersResponse { waiters: reply.entries, page })
    }

    /// Returns a lease's wait on a semaphore, and why it waits: its place in the queue, the weight ahead,
    /// the holders, and how long it may take.
    ///
    /// Any client can ask, also the one whose acquire waits.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::WaiterNotFound`]: the lease does not wait there, or not any more.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    ///
    /// # Examples
    ///
    /// An acquire that prints every few seconds why it still waits:
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use grackle_client::wire::{
    ///     AcquireSemaphoreRequest, AcquireSemaphoreResponse, GetSemaphoreWaiterRequest,
    /// };
    /// use grackle_client::{Client, Error};
    ///
    /// async fn patiently(
    ///     client: &Client,
    ///     request: AcquireSemaphoreRequest,
    /// ) -> Result<AcquireSemaphoreResponse, Error> {
    ///     let mine = GetSemaphoreWaiterRequest {
    ///         namespace_name: request.namespace_name.clone(),
    ///         semaphore_name: request.semaphore_name.clone(),
    ///         lease_id: request.lease_id.clone(),
    ///     };
    ///     let acquire = client.acquire_semaphore(request);
    ///     tokio::pin!(acquire);
    ///     loop {
    ///         tokio::select! {
    ///             answer = &mut acquire => return answer,
    ///             () = tokio::time::sleep(Duration::from_secs(5)) => {
    ///                 // If it was granted meanwhile, there is no waiter, and the loop ends.
    ///                 if let Ok(found) = client.get_semaphore_waiter(mine.clone()).await {
    ///                     let waiting = found.waiting;
    ///                     println!("number {}, behind {}", waiting.position, waiting.weight_ahead);
    ///                 }
    ///             }
    ///         }
    ///     }
    /// }
    /// ```
    pub async fn get_semaphore_waiter(
        &self,
        request: GetSemaphoreWaiterRequest,
    ) -> Result<SemaphoreWaiterResponse, Error> {
        let GetSemaphoreWaiterRequest { namespace_name: ns, semaphore_name: name, lease_id } =
            &request;
        validate::names(ns, name)?;
        validate::lease_id(lease_id)?;
        self.engine.scripts.get_semaphore_waiter(ns, name, lease_id).await
    }
}
