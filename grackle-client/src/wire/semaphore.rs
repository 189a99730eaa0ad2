//! Semaphores.

use serde::{Deserialize, Serialize};

use super::convoy::Convoy;
use super::discipline::{QueueDiscipline, from_text};
use super::int64;
use super::metadata::Metadata;
use super::page::Page;

/// A named counter that limits how many permits are held at once.
///
/// `active_holds ≤ permits`, always; a holder whose lease has expired is never counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Semaphore {
    /// 1–128 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// At most 1,024 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The total capacity, 1 … 2^53 − 1.
    pub permits: i64,
    /// Sum of the holders' weights.
    pub active_holds: i64,
    /// Number of holders.
    pub active_holders_count: i64,
    /// Number of waiters in the queue, without parked ones.
    pub waiting_count: i64,
    /// Sum of those waiters' weights, shown up to 2^53 − 1.
    pub waiting_weight: i64,
    /// Which waiter is next.
    pub queue_discipline: QueueDiscipline,
    /// How many may wait; left out where only the general limit applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_waiters: Option<i64>,
    /// Labels set at creation and replaced by an update.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// 1 at creation, one more with every update.
    pub version: i64,
    /// When it was created, in nanoseconds since the epoch.
    pub created_at: i64,
    /// When it was last updated, in nanoseconds since the epoch; `created_at` until then.
    pub updated_at: i64,
    /// When somebody last tried to acquire or released, in nanoseconds since the epoch.
    pub last_activity_at: i64,
}

/// Asks for a new semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CreateSemaphoreRequest {
    /// An existing namespace.
    pub namespace_name: String,
    /// The name of the new semaphore: 1–128 of `A-Z a-z 0-9 _ -`.
    pub semaphore_name: String,
    /// At most 1,024 bytes.
    pub description: String,
    /// The total capacity, 1 … 2^53 − 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub permits: i64,
    /// Which waiter is next; unspecified means FIFO.
    #[serde(deserialize_with = "from_text")]
    pub queue_discipline: QueueDiscipline,
    /// How many may wait, 0 … 2^53 − 1; 0 means that only the general limit applies. Beyond, an acquire is
    /// refused at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub max_waiters: i64,
    /// At most 32 entries.
    pub metadata: Metadata,
}

/// Asks for one semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GetSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
}

/// Replaces description, permits and metadata; discipline and `max_waiters` only where they are given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UpdateSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// At most 1,024 bytes; empty removes it.
    pub description: String,
    /// The total capacity, at least `active_holds`. Raising it admits waiters at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub permits: i64,
    /// Unspecified keeps it. Another one re-orders all waiters at once.
    #[serde(deserialize_with = "from_text")]
    pub queue_discipline: QueueDiscipline,
    /// How many may wait, 0 … 2^53 − 1. Left out, it stays; 0 removes it. Present waiters stay.
    #[serde(deserialize_with = "int64::option", skip_serializing_if = "Option::is_none")]
    pub max_waiters: Option<i64>,
    /// At most 32 entries; empty removes them.
    pub metadata: Metadata,
    /// The version that the caller has seen, at least 1; any other is refused.
    #[serde(deserialize_with = "int64::deserialize")]
    pub expected_version: i64,
}

/// Deletes a semaphore, drops its holders and tells its waiters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DeleteSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore; a missing one is no error.
    pub semaphore_name: String,
}

/// Asks for a page of semaphores, in name order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoresRequest {
    /// The namespace.
    pub namespace_name: String,
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// A semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SemaphoreResponse {
    /// Its record.
    pub semaphore: Semaphore,
}

/// A semaphore, and whether the node that answers sees a convoy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GetSemaphoreResponse {
    /// Its record.
    pub semaphore: Semaphore,
    /// The convoy that this node sees there, if it sees one. Another node may see none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convoy: Option<Convoy>,
}

/// A page of semaphores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListSemaphoresResponse {
    /// In name order.
    pub semaphores: Vec<Semaphore>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
