//! Holders of a semaphore.

use serde::{Deserialize, Serialize};

use super::int64;
use super::metadata::Metadata;
use super::page::Page;

/// A lease's hold on a semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Holder {
    /// The lease that owns the hold; `ownerless` for the hold of all downs, which no lease ends.
    pub lease_id: String,
    /// Permits held.
    pub weight: i64,
    /// When this hold was last granted, in nanoseconds since the epoch.
    pub locked_at: i64,
    /// Grows from hold to hold of one semaphore, and stays the same while the hold lives.
    pub fencing_token: i64,
    /// Labels given with the acquire.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// Asks for a page of holders, in the order of `locked_at`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoreHoldersRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// A page of holders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListSemaphoreHoldersResponse {
    /// In the order of `locked_at`, then of `lease_id`.
    pub holders: Vec<Holder>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
