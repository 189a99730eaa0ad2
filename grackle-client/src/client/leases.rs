//! Leases: made, refreshed, ended.

use super::{Client, namespace_name, seconds};
use crate::error::Error;
use crate::pagination;
use crate::validate;
use crate::wire::{
    CreateSemaphoreLeaseRequest, Empty, GetSemaphoreLeaseRequest, LeaseResponse,
    ListSemaphoreLeasesRequest, ListSemaphoreLeasesResponse, RefreshSemaphoreLeaseRequest,
    RevokeSemaphoreLeaseRequest,
};

impl Client {
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
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_leases(ns, process, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoreLeasesResponse { leases: reply.entries, page })
    }
}
