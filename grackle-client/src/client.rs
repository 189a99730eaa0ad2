//! The face of the SDK: each operation checks its request and hands it to the scripts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::acquire;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::node::Node;
use crate::scripts::Rules;
use crate::semaphore_watch::SemaphoreWatch;
use crate::token;
use crate::topic::FullName;
use crate::types::{
    AcquireSemaphoreRequest, AcquireSemaphoreResponse, CreateNamespaceRequest,
    CreateSemaphoreLeaseRequest, CreateSemaphoreRequest, DeleteNamespaceRequest,
    DeleteSemaphoreRequest, Empty, GetNamespaceRequest, GetSemaphoreLeaseRequest,
    GetSemaphoreRequest, GetSemaphoreResponse, GetSemaphoreWaiterRequest, LeaseResponse,
    ListNamespacesRequest, ListNamespacesResponse, ListSemaphoreHoldersRequest,
    ListSemaphoreHoldersResponse, ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse,
    ListSemaphoreWaitersRequest, ListSemaphoreWaitersResponse, ListSemaphoresRequest,
    ListSemaphoresResponse, NamespaceResponse, RefreshSemaphoreLeaseRequest,
    ReleaseSemaphoreRequest, RevokeSemaphoreLeaseRequest, SemaphoreLoad, SemaphoreResponse,
    SemaphoreWaiterResponse, UpdateNamespaceRequest, UpdateSemaphoreRequest, WatchSemaphoreRequest,
};
use crate::validate;
use crate::warning::RedisWarning;

/// A connection to the semaphores of one Redis; cheap to clone, made to be shared.
///
/// All clones share two connections to Redis (to each server of a cluster), one for commands and,
/// once a call has had to wait or somebody watches, one for wake-ups, however many do; a third where grants wait
/// for replicas.
///
/// # Errors
///
/// Every operation can end in these, besides the ones that it names:
///
/// - [`Error::InvalidField`]: a field is out of its range. Nothing was sent.
/// - [`Error::Unavailable`]: Redis did not answer within [`Config::retry_for`]. What was asked may
///   have happened or not; asking again is safe.
///
/// # Cancel safety
///
/// Dropping the future of an operation other than [`acquire_semaphore`](Self::acquire_semaphore)
/// leaves open whether it happened. Asking again is safe.
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

    /// Makes a namespace.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceExists`]: it is there already, and stays as it is.
    /// - [`Error::ResourceExhausted`]: `max_namespaces` is reached.
    pub async fn create_namespace(
        &self,
        request: CreateNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        let CreateNamespaceRequest { name, description, metadata } = request;
        validate::name("name", &name)?;
        validate::description(&description)?;
        validate::metadata(&metadata)?;
        let scripts = &self.node.scripts;
        if scripts.count_namespaces().await? >= self.limits.max_namespaces {
            // What is there already is so before what may not be made.
            return match scripts.get_namespace(&name).await {
                Ok(_) => Err(Error::NamespaceExists),
                Err(Error::NamespaceNotFound) => {
                    Err(Error::ResourceExhausted { limit: "max_namespaces".to_owned() })
                }
                Err(error) => Err(error),
            };
        }
        let id = self.node.ticket();
        let namespace = scripts.create_namespace(&id, &name, &description, &metadata).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// One namespace.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    pub async fn get_namespace(
        &self,
        request: GetNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        namespace_name(&request.namespace_name)?;
        let namespace = self.node.scripts.get_namespace(&request.namespace_name).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// Replaces a namespace's description and metadata, whole.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::VersionMismatch`]: it was updated since `expected_version`.
    pub async fn update_namespace(
        &self,
        request: UpdateNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        let UpdateNamespaceRequest { namespace_name: name, description, metadata, .. } = &request;
        let version = request.expected_version;
        namespace_name(name)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        validate::expected_version(version)?;
        let (id, scripts) = (self.node.ticket(), &self.node.scripts);
        let namespace = scripts.update_namespace(&id, name, version, description, metadata).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// Removes a namespace and everything inside; its waiters end with
    /// [`Error::NamespaceNotFound`]. A missing one is no error.
    pub async fn delete_namespace(&self, request: DeleteNamespaceRequest) -> Result<Empty, Error> {
        namespace_name(&request.namespace_name)?;
        self.node.scripts.delete_namespace(&request.namespace_name).await?;
        Ok(Empty {})
    }

    /// A page of namespaces, in name order.
    pub async fn list_namespaces(
        &self,
        request: ListNamespacesRequest,
    ) -> Result<ListNamespacesResponse, Error> {
        let list = ["namespaces"];
        let limit = token::limit(request.limit)?;
        let from = token::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_namespaces(&from, limit).await?;
        let page = token::page(&reply, &list);
        Ok(ListNamespacesResponse { namespaces: reply.entries, page })
    }

    /// Makes a semaphore.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::SemaphoreExists`]: it is there already, and stays as it is.
    /// - [`Error::ResourceExhausted`]: `max_semaphores` is reached.
    pub async fn create_semaphore(
        &self,
        request: CreateSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let CreateSemaphoreRequest { namespace_name: ns, semaphore_name: name, .. } = &request;
        let CreateSemaphoreRequest { permits, max_waiters, description, metadata, .. } = &request;
        names(ns, name)?;
        validate::permits("permits", *permits)?;
        validate::max_waiters(*max_waiters)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        let (id, scripts) = (self.node.ticket(), &self.node.scripts);
        let (discipline, max_waiters) = (request.queue_discipline, Some(*max_waiters));
        let rules = Rules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.create_semaphore(&id, ns, name, rules, description, metadata).await?;
        Ok(SemaphoreResponse { semaphore })
    }

    /// One semaphore, and whether this client sees a [`Convoy`](crate::types::Convoy) there. A holder
    /// whose lease has expired is not counted.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    pub async fn get_semaphore(
        &self,
        request: GetSemaphoreRequest,
    ) -> Result<GetSemaphoreResponse, Error> {
        let GetSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        names(ns, name)?;
        let semaphore = self.node.scripts.get_semaphore(ns, name).await?;
        self.node.convoys.state(ns, &semaphore);
        let convoy = self.node.convoys.convoy(ns, name);
        Ok(GetSemaphoreResponse { semaphore, convoy })
    }

    /// Replaces a semaphore's description, permits and metadata, whole. Raised permits admit
    /// waiters at once; waiters heavier than lowered ones end with [`Error::WeightExceedsPermits`].
    ///
    /// Another discipline re-orders all who wait, in this one step, as if they came once more in the
    /// same order. It is the only step that takes as long as the queue is: Redis does nothing else
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::VersionMismatch`]: it was updated since `expected_version`.
    /// - [`Error::PermitsBelowActiveHolds`]: more is held than `permits`.
    pub async fn update_semaphore(
        &self,
        request: UpdateSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let UpdateSemaphoreRequest { namespace_name: ns, semaphore_name: name, .. } = &request;
        let UpdateSemaphoreRequest { permits, max_waiters, description, metadata, .. } = &request;
        let version = request.expected_version;
        names(ns, name)?;
        validate::permits("permits", *permits)?;
        max_waiters.map_or(Ok(()), validate::max_waiters)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        validate::expected_version(version)?;
        let (id, scripts) = (self.node.ticket(), &self.node.scripts);
        let (discipline, max_waiters) = (request.queue_discipline, *max_waiters);
        let rules = Rules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.update_semaphore(&id, ns, name, version, rules, description, metadata).await?;
        Ok(SemaphoreResponse { semaphore })
    }

    /// Removes a semaphore: its holders are dropped, its waiters end with
    /// [`Error::SemaphoreNotFound`]. A missing one is no error.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    pub async fn delete_semaphore(&self, request: DeleteSemaphoreRequest) -> Result<Empty, Error> {
        let DeleteSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        names(ns, name)?;
        self.node.scripts.delete_semaphore(ns, name).await?;
        Ok(Empty {})
    }

    /// A page of a namespace's semaphores, in name order.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    pub async fn list_semaphores(
        &self,
        request: ListSemaphoresRequest,
    ) -> Result<ListSemaphoresResponse, Error> {
        let ns = request.namespace_name.as_str();
        namespace_name(ns)?;
        let list = ["semaphores", ns];
        let limit = token::limit(request.limit)?;
        let from = token::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_semaphores(ns, &from, limit).await?;
        let page = token::page(&reply, &list);
        Ok(ListSemaphoresResponse { semaphores: reply.entries, page })
    }

    /// Takes `weight` permits for a lease, all or none, waiting up to `timeout_seconds`.
    ///
    /// Who waits is admitted in the order of arrival, and nobody overtakes (unless the semaphore has
    /// another [`QueueDiscipline`](crate::types::QueueDiscipline)): a heavy request at the head holds
    /// back the lighter ones behind it. A lease that holds already changes its one hold:
    /// weight, metadata and `locked_at` are replaced. Less weight frees the rest at once; more
    /// weight needs only the difference, goes ahead of the queue, and until it is granted the old
    /// hold stays as it is. Calls of one lease that wait for one semaphore are one waiter: the later
    /// weight and metadata stand, also when that call gives up, and one grant answers all (64 at
    /// most).
    ///
    /// With [`Config::replica_acks`] a grant waits, on top of that, until so many replicas have it or
    /// their time is over, and [`acked_replicas`](AcquireSemaphoreResponse::acked_replicas) says how
    /// many are known to. Fewer than asked for is no error.
    ///
    /// Not getting the permits is no error: see [`AcquireOutcome`](crate::types::AcquireOutcome).
    /// With [`explain`](AcquireSemaphoreRequest::explain) such an answer says why; while the call is
    /// pending, [`get_semaphore_waiter`](Self::get_semaphore_waiter) does.
    ///
    /// # Errors
    ///
    /// - [`Error::WeightExceedsPermits`]: it could never be granted; refused at once, or when the
    ///   permits are lowered during the wait.
    /// - [`Error::LeaseNotFound`]: the lease has ended, before or during the wait.
    /// - [`Error::SemaphoreNotFound`], [`Error::NamespaceNotFound`]: likewise.
    /// - [`Error::ResourceExhausted`]: `max_waiters` (the semaphore's or that of all), `max_holders`, `max_holds_per_lease` or
    ///   `max_calls_per_wait` (64, fixed) is reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue; a grant that crossed with the drop, or waits for
    /// replicas, is undone, and the hold goes back to what it was. The work is done by a task of the runtime on which the client
    /// was connected: where that has ended, the lease's end does it. (With
    /// [`OnDrop::SetAside`](crate::OnDrop::SetAside) the place is kept for a time instead.)
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
        let limit = token::limit(request.limit)?;
        let from = token::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_semaphore_holders(ns, name, &from, limit).await?;
        let page = token::page(&reply, &list);
        Ok(ListSemaphoreHoldersResponse { holders: reply.entries, page })
    }

    /// A page of those who wait for a semaphore, in the order in which they are admitted.
    ///
    /// Those who are set aside, `position` 0, stand among the others, at the place to which they
    /// come back: whoever leaves the queue or comes back to it meanwhile is shown once all the same.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
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
        let limit = token::limit(request.limit)?;
        let from = token::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_semaphore_waiters(ns, name, &from, limit).await?;
        let page = token::page(&reply, &list);
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
    /// use grackle_client::types::{
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

    /// The states of a semaphore: the one it is in at once, then what changes.
    ///
    /// Changes that come faster than they are read, or than every 20 ms, are one: the latest state
    /// stands. Every change of what a [`Semaphore`](crate::types::Semaphore) shows is seen in the end,
    /// whoever makes it; a holder whose lease ends too. After a lost connection to Redis it goes on by
    /// itself with the state of then, for as long as that takes; a change that no message told of is
    /// seen within 10 s. When the semaphore or its namespace is deleted, or was meanwhile, a last event
    /// says so.
    ///
    /// All streams of one semaphore share one subscription. Only while somebody watches does Redis
    /// publish anything.
    ///
    /// # Errors
    ///
    /// An error is the stream's last item:
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`], [`Error::InvalidField`]: only as
    ///   the first.
    /// - [`Error::Unavailable`]: as the first, Redis does not answer; later, this client was
    ///   [shut down](Self::shutdown).
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream ends it. With the last of a semaphore goes its subscription.
    pub fn watch_semaphore(&self, request: WatchSemaphoreRequest) -> SemaphoreWatch {
        let WatchSemaphoreRequest { namespace_name: namespace, semaphore_name: name } = request;
        let checked = names(&namespace, &name).map(|()| FullName { namespace, name });
        SemaphoreWatch::new(Arc::clone(&self.node), checked)
    }

    /// What this client has seen of a semaphore in the last two minutes; none where that is nothing.
    ///
    /// Of the states in answers and messages that reached it, and of the waits of its own callers: it
    /// asks Redis nothing, and another client may have seen more. Of
    /// [`max_observed_semaphores`](Limits::max_observed_semaphores) at most anything is kept.
    #[must_use]
    pub fn semaphore_load(&self, request: &GetSemaphoreRequest) -> Option<SemaphoreLoad> {
        self.node.convoys.load(&request.namespace_name, &request.semaphore_name)
    }

    /// The same of all, the busiest first, and no more than `most`: [convoys](crate::types::Convoy),
    /// then by the longest queue seen, then by what drained from it.
    #[must_use]
    pub fn busiest_semaphores(&self, most: usize) -> Vec<SemaphoreLoad> {
        self.node.convoys.busiest(most)
    }

    /// Makes a lease that ends `ttl_seconds` from now, by Redis' clock.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::ResourceExhausted`]: `max_leases` is reached.
    ///
    /// # Cancel safety
    ///
    /// A lease made for a dropped call ends by itself.
    pub async fn create_semaphore_lease(
        &self,
        request: CreateSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let CreateSemaphoreLeaseRequest { namespace_name: ns, process_id, metadata, .. } = &request;
        namespace_name(ns)?;
        validate::process_id(process_id)?;
        validate::ttl(request.ttl_seconds, &self.limits)?;
        validate::metadata(metadata)?;
        let (id, ttl) = (validate::new_lease_id(), seconds(request.ttl_seconds));
        let lease = self.node.scripts.create_lease(ns, &id, process_id, ttl, metadata).await?;
        self.node.tidy.expect(ns, ttl);
        Ok(LeaseResponse { lease })
    }

    /// One lease.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    pub async fn get_semaphore_lease(
        &self,
        request: GetSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let GetSemaphoreLeaseRequest { namespace_name: ns, lease_id } = &request;
        namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        let lease = self.node.scripts.get_lease(ns, lease_id).await?;
        Ok(LeaseResponse { lease })
    }

    /// Moves a lease's end to `ttl_seconds` from now, sooner or later than it was, and with it the
    /// end of all that it holds. A lease that has ended stays ended.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    pub async fn refresh_semaphore_lease(
        &self,
        request: RefreshSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let RefreshSemaphoreLeaseRequest { namespace_name: ns, lease_id, ttl_seconds } = &request;
        namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        validate::ttl(*ttl_seconds, &self.limits)?;
        let ttl = seconds(*ttl_seconds);
        let lease = self.node.scripts.refresh_lease(ns, lease_id, ttl).await?;
        self.node.tidy.expect(ns, ttl);
        Ok(LeaseResponse { lease })
    }

    /// Ends a lease, releasing all that it holds at once; its waits end with
    /// [`Error::LeaseNotFound`].
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    pub async fn revoke_semaphore_lease(
        &self,
        request: RevokeSemaphoreLeaseRequest,
    ) -> Result<Empty, Error> {
        let RevokeSemaphoreLeaseRequest { namespace_name: ns, lease_id } = &request;
        namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        self.node.scripts.revoke_lease(ns, lease_id).await?;
        Ok(Empty {})
    }

    /// A page of leases, by creation; of one process where `process_id` is given.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    pub async fn list_semaphore_leases(
        &self,
        request: ListSemaphoreLeasesRequest,
    ) -> Result<ListSemaphoreLeasesResponse, Error> {
        let (ns, process) = (request.namespace_name.as_str(), request.process_id.as_str());
        namespace_name(ns)?;
        validate::process_filter(process)?;
        let list = ["leases", ns, process];
        let limit = token::limit(request.limit)?;
        let from = token::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_leases(ns, process, &from, limit).await?;
        let page = token::page(&reply, &list);
        Ok(ListSemaphoreLeasesResponse { leases: reply.entries, page })
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
