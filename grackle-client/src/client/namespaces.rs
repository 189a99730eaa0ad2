//! Namespaces: created, read, updated, deleted, listed.

use super::Client;
use crate::error::Error;
use crate::pagination;
use crate::validate;
use crate::wire::{
    CreateNamespaceRequest, DeleteNamespaceRequest, Empty, GetNamespaceRequest,
    ListNamespacesRequest, ListNamespacesResponse, NamespaceResponse, UpdateNamespaceRequest,
};

impl Client {
    /// Creates a namespace.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceExists`]: it exists, and stays as it is.
    /// - [`Error::ResourceExhausted`]: `max_namespaces` is reached.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again:
    /// [`Error::NamespaceExists`] then means that it did, or that somebody else created it.
    pub async fn create_namespace(
        &self,
        request: CreateNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        let CreateNamespaceRequest { name, description, metadata } = request;
        validate::name("name", &name)?;
        validate::description(&description)?;
        validate::metadata(&metadata)?;
        let scripts = &self.engine.scripts;
        if scripts.count_namespaces().await? >= self.limits.max_namespaces {
            // That it exists is the more precise answer.
            return match scripts.get_namespace(&name).await {
                Ok(_) => Err(Error::NamespaceExists),
                Err(Error::NamespaceNotFound) => {
                    Err(Error::ResourceExhausted { limit: "max_namespaces".to_owned() })
                }
                Err(error) => Err(error),
            };
        }
        let id = self.engine.tickets.next();
        let namespace = scripts.create_namespace(&id, &name, &description, &metadata).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// Returns one namespace.
    ///
    /// # Errors
    ///
    /// [`Error::NamespaceNotFound`].
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn get_namespace(
        &self,
        request: GetNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        validate::namespace_name(&request.namespace_name)?;
        let namespace = self.engine.scripts.get_namespace(&request.namespace_name).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// Replaces the description and the metadata of a namespace; what is left out becomes empty.
    ///
    /// # Errors
    ///
    /// - [`Error::NamespaceNotFound`].
    /// - [`Error::VersionMismatch`]: it was updated since `expected_version`.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Read the namespace, then
    /// decide.
    pub async fn update_namespace(
        &self,
        request: UpdateNamespaceRequest,
    ) -> Result<NamespaceResponse, Error> {
        let UpdateNamespaceRequest { namespace_name: name, description, metadata, .. } = &request;
        let version = request.expected_version;
        validate::namespace_name(name)?;
        validate::description(description)?;
        validate::metadata(metadata)?;
        validate::expected_version(version)?;
        let (id, scripts) = (self.engine.tickets.next(), &self.engine.scripts);
        let namespace = scripts.update_namespace(&id, name, version, description, metadata).await?;
        Ok(NamespaceResponse { namespace })
    }

    /// Deletes a namespace and everything inside; its waiters end with
    /// [`Error::NamespaceNotFound`]. If it does not exist, nothing happens.
    ///
    /// # Errors
    ///
    /// Those of every operation.
    ///
    /// # Cancel safety
    ///
    /// If you drop the future, you don't know whether it happened. Call it again.
    pub async fn delete_namespace(&self, request: DeleteNamespaceRequest) -> Result<Empty, Error> {
        validate::namespace_name(&request.namespace_name)?;
        self.engine.scripts.delete_namespace(&request.namespace_name).await?;
        Ok(Empty {})
    }

    /// Returns a page of namespaces in the order of their names.
    ///
    /// # Errors
    ///
    /// Those of every operation.
    ///
    /// # Cancel safety
    ///
    /// It only reads.
    pub async fn list_namespaces(
        &self,
        request: ListNamespacesRequest,
    ) -> Result<ListNamespacesResponse, Error> {
        let list = ["namespaces"];
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.engine.scripts.list_namespaces(&from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListNamespacesResponse { namespaces: reply.entries, page })
    }
}
