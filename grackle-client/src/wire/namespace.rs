//! Namespaces.

use serde::{Deserialize, Serialize};

use super::int64;
use super::metadata::Metadata;
use super::page::Page;

/// A space of names for semaphores and leases; it lives in one slot of a Redis Cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Namespace {
    /// 1–128 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// At most 1,024 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Labels set at creation and replaced by an update.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// 1 at creation, one more with every update.
    pub version: i64,
    /// When it was created, in nanoseconds since the epoch.
    pub created_at: i64,
    /// When it was last updated, in nanoseconds since the epoch; `created_at` until then.
    pub updated_at: i64,
}

/// Asks for a new namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CreateNamespaceRequest {
    /// The name of the new namespace: 1–128 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// At most 1,024 bytes.
    pub description: String,
    /// At most 32 entries.
    pub metadata: Metadata,
}

/// Asks for one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GetNamespaceRequest {
    /// The namespace.
    pub namespace_name: String,
}

/// Replaces description and metadata.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UpdateNamespaceRequest {
    /// The namespace.
    pub namespace_name: String,
    /// At most 1,024 bytes; empty removes it.
    pub description: String,
    /// At most 32 entries; empty removes them.
    pub metadata: Metadata,
    /// The version that the caller has seen, at least 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub expected_version: i64,
}

/// Deletes a namespace and everything inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DeleteNamespaceRequest {
    /// The namespace; a missing one is no error.
    pub namespace_name: String,
}

/// Asks for a page of namespaces, in name order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListNamespacesRequest {
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// A namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamespaceResponse {
    /// Its record.
    pub namespace: Namespace,
}

/// A page of namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListNamespacesResponse {
    /// In name order.
    pub namespaces: Vec<Namespace>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
