//! Permits: acquired, waited for, released; who holds, who waits.

use super::{Client, names};
use crate::engine::acquire;
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
    /// Takes `weight` permits for a lease, all or none, waiting up to `timeout_seconds`.
    ///
    /// Who waits is admitted in the order of arrival, and nobody overtakes (unless the semaphore has
    /// another [`QueueDiscipline`](crate::wire::QueueDiscipline)): a heavy request at the head holds
    /// back the lighter ones behind it. A lease that holds already changes its one hold:
    /// weight, metadata and `locked_at` are replaced. Less weight frees the rest at once; more
    /// weight needs only the difference, goes ahead of the queue, and until it is granted the old
    /// hold stays as it is. Calls of one lease that wait for one semaphore are one waiter: the later
    /// weight and metadata stand, also when that call gives up, and one grant answers all (64 at
    /// most).
    ///
    /// With [`Config::replica_acks`](crate::Config::replica_acks) a grant waits, on top of that,
    /// until so many replicas have it or their time is over, and
    /// [`acked_replicas`](AcquireSemaphoreResponse::acked_replicas) says how many are known to. Fewer
    /// than asked for is no error.
    ///
    /// Not getting the permits is no error: see [`AcquireOutcome`](crate::wire::AcquireOutcome).
    /// With [`explain`](AcquireSemaphoreRequest::explain) such an answer says why; while the call is
    /// pending, [`get_semaphore_waiter`](Self::get_semaphore_waiter) does.
    ///
    /// # Errors
    ///
    /// - [`Error::WeightExceedsPermits`]: it could never be granted; refused at once, or when the
    ///   permits are lowered during the wait.
    /// - [`Error::LeaseNotFound`]: the lease has ended, before or during the wait.
    /// - [`Error::SemaphoreNotFound`], [`Error::NamespaceNotFound`]: likewise.
    /// - [`Error::ResourceExhausted`]: `max_waiters` (the semaphore's or that of all), `max_holders`,
    ///   `max_holds_per_lease` or `max_calls_per_wait` (64, fixed) is reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue; a grant that crossed with the drop, or waits for
    /// replicas, is undone, and the hold goes back to what it was. The work is done by a task of the
    /// runtime on which the client was connected: where that has ended, the lease's end does it. (With
    /// [`OnDrop::Park`](crate::OnDrop::Park) the place is kept for a time instead.)
    pub async fn acquire_semaphore(
        &self,
        request: AcquireSemaphoreRequest,
    ) -> Result<AcquireSemaphoreResponse, Error> {
        names(&request.namespace_name, &request.semaphore_name)?;
        validate::lease_id(&request.lease_id)?;
        validate::permits("weight", request.weight)?;
        validate::timeout(request.timeout_seconds, &self.limits)?;
        validate::share(request.share)?;
        validate::metadata(&request.metadata)?;
        acquire::run(&self.node, &request).await
    }

    /// Ends a lease's hold on a semaphore and admits whoever now fits. Where the lease holds
    /// nothing there, nothing happens.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`], [`Error::SemaphoreNotFound`].
    pub async fn release_semaphore(
        &self,
        request: ReleaseSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let ReleaseSemaphoreRequest { namespace_name: ns, semaphore_name: name, lease_id } =
            &request;
        names(ns, name)?;
        validate::lease_id(lease_id)?;
        let semaphore = self.node.scripts.release(ns, name, lease_id).await?;
        self.node.convoys.state(ns, &semaphore);
        Ok(SemaphoreResponse { semaphore })
    }

    /// A page of a semaphore's holders, by `locked_at`; never one whose lease has expired.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    pub async fn list_semaphore_holders(
        &self,
        request: ListSemaphoreHoldersRequest,
    ) -> Result<ListSemaphoreHoldersResponse, Error> {
        let (ns, name) = (request.namespace_name.as_str(), request.semaphore_name.as_str());
        names(ns, name)?;
        let list = ["holders", ns, name];
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_semaphore_holders(ns, name, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreHoldersResponse { holders: reply.entries, page })
    }

    /// A page of those who wait for a semaphore, in the order in which they are admitted.
    ///
    /// Those who are set aside, `position` 0, stand among the others, at the place to which they
    /// come back: whoever leaves the queue or comes back to it meanwhile is shown once all the same.
    ///
    /// In a weighted queue from which some have given up, those of their process stand behind where they
    /// will be admitted: only its first moves up at once, each other one when it is the first. So do
    /// [`position`](crate::wire::Waiting::position) and `weight_ahead` say too much of them.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::InvalidField`]: `pagination_token`: the queue has another discipline since; begin anew.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_semaphore_waiters(
        &self,
        request: ListSemaphoreWaitersRequest,
    ) -> Result<ListSemaphoreWaitersResponse, Error> {
        let (ns, name) = (request.namespace_name.as_str(), request.semaphore_name.as_str());
        names(ns, name)?;
        let list = ["waiters", ns, name];
        let limit = pagination::limit(request.limit)?;
        let (from, order) = pagination::from_ordered(&request.pagination_token, &list)?;
        let scripts = &self.node.scripts;
        let reply = scripts.list_semaphore_waiters(ns, name, &from, limit, &order).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreWaitersResponse { waiters: reply.entries, page })
    }

    /// A lease's wait on a semaphore, and why it waits: how many and how much stand before it, who
    /// holds, and how long it may take.
    ///
    /// Any client can ask, also the one whose acquire is pending.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::WaiterNotFound`]: the lease does not wait there, or no more.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    ///
    /// # Examples
    ///
    /// An acquire that says every few seconds why it still waits:
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
    ///                 // Granted meanwhile, it is no waiter any more: the next turn ends the loop.
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
        names(ns, name)?;
        validate::lease_id(lease_id)?;
        self.node.scripts.get_semaphore_waiter(ns, name, lease_id).await
    }
}
