//! Semaphores: made, looked at, changed, deleted.

use super::{Client, names, namespace_name};
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
        let rules = SemaphoreRules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.create_semaphore(&id, ns, name, rules, description, metadata).await?;
        self.node.convoys.state(ns, &semaphore);
        Ok(SemaphoreResponse { semaphore })
    }

    /// One semaphore, and whether this client sees a [`Convoy`](crate::wire::Convoy) there. A holder
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
    /// - [`Error::ResourceExhausted`]: `reordered_waiters`: another discipline, and more than 20,000 wait.
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
        let rules = SemaphoreRules { permits: *permits, discipline, max_waiters };
        let semaphore =
            scripts.update_semaphore(&id, ns, name, version, rules, description, metadata).await?;
        self.node.convoys.state(ns, &semaphore);
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

    /// As [`delete_semaphore`](Self::delete_semaphore): what it was in its last moment; none where there
    /// was none. (After a lost answer also where this very call has deleted it.)
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    pub async fn remove_semaphore(
        &self,
        request: DeleteSemaphoreRequest,
    ) -> Result<Option<Semaphore>, Error> {
        let DeleteSemaphoreRequest { namespace_name: ns, semaphore_name: name } = &request;
        names(ns, name)?;
        self.node.scripts.delete_semaphore(ns, name).await
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
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_semaphores(ns, &from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListSemaphoresResponse { semaphores: reply.entries, page })
    }
}
