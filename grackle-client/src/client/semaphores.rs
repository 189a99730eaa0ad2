//! Semaphores: created, read, updated, deleted, listed.

use super::Client;
use crate::error::Error;
use crate::pagination;
use crate::scripts::SemaphoreRules;
use crate::validate;
use crate::wire::{
    CreateSemaphoreRequest, DeleteSemaphoreRequest, Empty, GetSemaphoreRequest,
    GetSemaphoreResponse, ListSemaphoresRequest, ListSemaphoresResponse, Semaphore,
    SemaphoreResponse, UpdateSemaphoreRequest,
};

impl Client {
    /// Creates a semaphore.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::SemaphoreExists`]: it exists, and stays as it is.
    /// - [`Error::ResourceExhausted`]: `max_semaphores` is reached.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again:
    /// [`Error::SemaphoreExists`] then means that it did, or that somebody else created it.
    pub async fn create_semaphore(
        &self,
        request: CreateSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let CreateSemaphoreRequest { namespace_name: ns, semaphore_name: name, .. } = &request;
        let CreateSemaphoreRequest { permits, max_waiters, description, metadata, .. } = &request;
        validate::names(ns, name)?;
        validate::permits("permits", *permits)?;
        validate::max_waiters(*max_waiters)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        let (id, scripts) = (self.engine.tickets.next(), &self.engine.scripts);
        let (discipline, max_waiters) = (request.queue_discipline, Some(*max_waiters));
        let rules = SemaphoreRules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.create_semaphore(&id, ns, name, rules, description, metadata).await?;
        Ok(SemaphoreResponse { semaphore })
    }

    /// Returns one semaphore, and whether this client sees a [`Convoy`](crate::wire::Convoy) there. It
    /// never counts a holder whose lease has expired.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn get_semaphore(
        &self,
        request: GetSemaphoreRequest,
    ) -> Result<GetSemaphoreResponse, Error> {
        let GetSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        validate::names(ns, name)?;
        let semaphore = self.engine.scripts.get_semaphore(ns, name).await?;
        let convoy = self.engine.load.convoy(ns, name);
        Ok(GetSemaphoreResponse { semaphore, convoy })
    }

    /// Replaces the description, the permits and the metadata of a semaphore; a description or metadata
    /// that you leave out becomes empty. Raised permits admit waiters at once. Waiters that are heavier
    /// than lowered permits end with [`Error::WeightExceedsPermits`].
    ///
    /// Another discipline re-orders all waiters in one step, as if they arrived again in the same order.
    /// The time of this step grows with the queue, and Redis does nothing else meanwhile.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`].
    /// - [`Error::VersionMismatch`]: it was updated since `expected_version`.
    /// - [`Error::PermitsBelowActiveHolds`]: more than `permits` is held.
    /// - [`Error::ResourceExhausted`]: `reordered_waiters`: the discipline changes, and more than 20,000
    ///   wait.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Read the semaphore, then
    /// decide.
    pub async fn update_semaphore(
        &self,
        request: UpdateSemaphoreRequest,
    ) -> Result<SemaphoreResponse, Error> {
        let UpdateSemaphoreRequest { namespace_name: ns, semaphore_name: name, .. } = &request;
        let UpdateSemaphoreRequest { permits, max_waiters, description, metadata, .. } = &request;
        let version = request.expected_version;
        validate::names(ns, name)?;
        validate::permits("permits", *permits)?;
        max_waiters.map_or(Ok(()), validate::max_waiters)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        validate::expected_version(version)?;
        let (id, scripts) = (self.engine.tickets.next(), &self.engine.scripts);
        let (discipline, max_waiters) = (request.queue_discipline, *max_waiters);
        let rules = SemaphoreRules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.update_semaphore(&id, ns, name, version, rules, description, metadata).await?;
        Ok(SemaphoreResponse { semaphore })
    }

    /// Deletes a semaphore: its holders lose their permits, its waiters end with
    /// [`Error::SemaphoreNotFound`]. If it does not exist, nothing happens.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again.
    pub async fn delete_semaphore(&self, request: DeleteSemaphoreRequest) -> Result<Empty, Error> {
        let DeleteSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        validate::names(ns, name)?;
        self.engine.scripts.delete_semaphore(ns, name).await?;
        Ok(Empty {})
    }

    /// Deletes a semaphore as [`delete_semaphore`](Self::delete_semaphore) does, and returns its last
    /// state; none if it did not exist. (Also none where a retry follows a lost answer.)
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again.
    pub async fn remove_semaphore(
        &self,
        request: DeleteSemaphoreRequest,
    ) -> Result<Option<Semaphore>, Error> {
        let DeleteSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        validate::names(ns, name)?;
        self.engine.scripts.delete_semaphore(ns, name).await
    }

    /// Returns a page of a namespace's semaphores in the order of their names.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_semaphores(
        &self,
        request: ListSemaphoresRequest,
    ) -> Result<ListSemaphoresResponse, Error> {
        let ns = request.namespace_name.as_str();
        validate::namespace_name(ns)?;
        let list = ["semaphores", ns];
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.engine.scripts.list_semaphores(ns, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoresResponse { semaphores: reply.entries, page })
    }
}
