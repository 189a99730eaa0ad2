//! Leases.

use serde::{Deserialize, Serialize};

use super::int64;
use super::metadata::Metadata;
use super::page::Page;

/// A lease: it lives for a time, and every hold under it lives exactly as long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Lease {
    /// `ls_` and 28 base-62 characters; `proxy_` and more for a down that waits.
    pub lease_id: String,
    /// The caller's name for itself, free-form.
    pub process_id: String,
    /// When it was created, in nanoseconds since the epoch.
    pub created_at: i64,
    /// When it expires, in nanoseconds since the epoch. An expired lease is never revived.
    pub expires_at: i64,
    /// Labels set at creation.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// Asks for a new lease.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CreateSemaphoreLeaseRequest {
    /// An existing namespace.
    pub namespace_name: String,
    /// The caller's name for itself: free-form UTF-8, 1–256 bytes.
    pub process_id: String,
    /// Life from now, in seconds, 1 … 86,400 by default.
    #[serde(deserialize_with = "int64::deserialize")]
    pub ttl_seconds: i64,
    /// At most 32 entries.
    pub metadata: Metadata,
}

/// Asks for one lease.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GetSemaphoreLeaseRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The lease.
    pub lease_id: String,
}

/// Makes a lease expire at another time, later or sooner, and with it all that it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RefreshSemaphoreLeaseRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The lease.
    pub lease_id: String,
    /// Life from now, in seconds, 1 … 86,400 by default.
    #[serde(deserialize_with = "int64::deserialize")]
    pub ttl_seconds: i64,
}

/// Ends a lease and releases all that it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RevokeSemaphoreLeaseRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The lease.
    pub lease_id: String,
}

/// Asks for a page of leases, in the order of their creation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoreLeasesRequest {
    /// The namespace.
    pub namespace_name: String,
    /// Only the leases of this process; empty for all.
    pub process_id: String,
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// A lease.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeaseResponse {
    /// Its record.
    pub lease: Lease,
}

/// A page of leases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListSemaphoreLeasesResponse {
    /// In the order of `created_at`, then of `lease_id`.
    pub leases: Vec<Lease>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
