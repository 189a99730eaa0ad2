//! Namespaces: made, looked at, changed, deleted.

use super::{Client, namespace_name};
use crate::error::Error;
use crate::pagination;
use crate::validate;
use crate::wire::{
    CreateNamespaceRequest, DeleteNamespaceRequest, Empty, GetNamespaceRequest,
    ListNamespacesRequest, ListNamespacesResponse, NamespaceResponse, UpdateNamespaceRequest,
};

impl Client {
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
        let limit = pagination::limit(request.limit)?;
        let from = pagination::from(&request.pagination_token, &list)?;
        let reply = self.node.scripts.list_namespaces(&from, limit).await?;
        let page = pagination::page(&reply, &list);
        Ok(ListNamespacesResponse { namespaces: reply.entries, page })
    }
}
