//! Leases: created, refreshed, revoked, listed.

use std::time::Duration;

use super::Client;
use crate::error::Error;
use crate::pagination;
use crate::validate;
use crate::wire::{
    CreateSemaphoreLeaseRequest, Empty, GetSemaphoreLeaseRequest, LeaseResponse,
    ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse, RefreshSemaphoreLeaseRequest,
    RevokeSemaphoreLeaseRequest,
};

impl Client {
    /// Creates a lease that expires `ttl_seconds` from now, by Redis' clock.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::ResourceExhausted`]: `max_leases` is reached.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, a lease may have been created; it expires by itself.
    pub async fn create_semaphore_lease(
        &self,
        request: CreateSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let CreateSemaphoreLeaseRequest { namespace_name: ns, process_id, metadata, .. } = &request;
        validate::namespace_name(ns)?;
        validate::process_id(process_id)?;
        validate::ttl(request.ttl_seconds, &self.limits)?;
        validate::metadata(metadata)?;
        let (id, ttl) = (validate::new_lease_id(), duration(request.ttl_seconds));
        let lease = self.engine.scripts.create_lease(ns, &id, process_id, ttl, metadata).await?;
        self.engine.idle_sweeper.sweep_within(ns, ttl);
        Ok(LeaseResponse { lease })
    }

    /// Returns one lease.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn get_semaphore_lease(
        &self,
        request: GetSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let GetSemaphoreLeaseRequest { namespace_name: ns, lease_id } = &request;
        validate::namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        let lease = self.engine.scripts.get_lease(ns, lease_id).await?;
        Ok(LeaseResponse { lease })
    }

    /// Makes a lease expire `ttl_seconds` from now, sooner or later than before, and with it all that it
    /// holds. A lease that has expired is not revived.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again.
    pub async fn refresh_semaphore_lease(
        &self,
        request: RefreshSemaphoreLeaseRequest,
    ) -> Result<LeaseResponse, Error> {
        let RefreshSemaphoreLeaseRequest { namespace_name: ns, lease_id, ttl_seconds } = &request;
        validate::namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        validate::ttl(*ttl_seconds, &self.limits)?;
        let ttl = duration(*ttl_seconds);
        let lease = self.engine.scripts.refresh_lease(ns, lease_id, ttl).await?;
        self.engine.idle_sweeper.sweep_within(ns, ttl);
        Ok(LeaseResponse { lease })
    }

    /// Ends a lease and releases all that it holds, in one step. Its waits end with
    /// [`Error::LeaseNotFound`].
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::LeaseNotFound`].
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again: [`Error::LeaseNotFound`] then
    /// means that the lease has ended.
    pub async fn revoke_semaphore_lease(
        &self,
        request: RevokeSemaphoreLeaseRequest,
    ) -> Result<Empty, Error> {
        let RevokeSemaphoreLeaseRequest { namespace_name: ns, lease_id } = &request;
        validate::namespace_name(ns)?;
        validate::lease_id(lease_id)?;
        self.engine.scripts.revoke_lease(ns, lease_id).await?;
        Ok(Empty {})
    }

    /// Returns a page of leases in the order of their creation; only those of one process where
    /// `process_id` is given.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_semaphore_leases(
        &self,
        request: ListSemaphoreLeasesRequest,
    ) -> Result<ListSemaphoreLeasesResponse, Error> {
        let (ns, process) = (request.namespace_name.as_str(), request.process_id.as_str());
        validate::namespace_name(ns)?;
        validate::process_filter(process)?;
        let list = ["leases", ns, process];
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.engine.scripts.list_leases(ns, process, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreLeasesResponse { leases: reply.entries, page })
    }
}

fn duration(seconds: i64) -> Duration {
    Duration::from_secs(seconds.unsigned_abs())
}
