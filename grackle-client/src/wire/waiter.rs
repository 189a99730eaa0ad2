//! Waiters of a semaphore, and why a call waits.

use serde::{Deserialize, Serialize};

use super::holder::Holder;
use super::int64;
use super::metadata::Metadata;
use super::page::Page;

/// A lease that waits for permits of a semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Waiter {
    /// The lease that waits.
    pub lease_id: String,
    /// The lease's process.
    pub process_id: String,
    /// Permits wanted.
    pub weight: i64,
    /// What its process gets beside the others, 1 … 1,000.
    pub share: i64,
    /// When it began to wait, in nanoseconds since the epoch.
    pub queued_at: i64,
    /// When the last of its calls times out, in nanoseconds since the epoch.
    pub deadline_at: i64,
    /// 1 is next; 0 if it is parked.
    pub position: i64,
    /// Whether it is parked: passed over because nobody listens for its answer, while its place is kept.
    pub set_aside: bool,
    /// Labels given with the acquire.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// Why a call waits, or would have to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Waiting {
    /// The place that it has, or would have, without parked waiters; 1 is next.
    pub position: i64,
    /// Sum of the weights of the waiters before it, shown up to 2^53 − 1.
    pub weight_ahead: i64,
    /// Whether `weight_ahead` is only a lower bound. It is where more than 500 waiters are before it and
    /// as many behind: beyond the first 500 each counts as 1. It also is above 2^53 − 1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub weight_ahead_is_least: bool,
    /// The first 10 holders, by `locked_at`.
    pub holders: Vec<Holder>,
    /// Seconds, rounded up, until `weight_ahead` and its own weight are granted, if the queue goes on
    /// draining as it did of late. Left out if `drained` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_wait_seconds: Option<i64>,
    /// How the queue drained of late. Left out if no waiter was granted anything in the last 30 to 60
    /// seconds, or if the queue is less than a second old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drained: Option<Drained>,
}

/// What drained from a queue of late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Drained {
    /// Sum of the weights that were granted to waiters.
    pub weight: i64,
    /// In how many seconds up to now: 30 to 60, or since the queue formed.
    pub seconds: i64,
}

/// Asks for one waiter, and why it waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GetSemaphoreWaiterRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// The lease that waits there.
    pub lease_id: String,
}

/// Asks for a page of waiters, by their places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoreWaitersRequest {
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

/// A waiter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SemaphoreWaiterResponse {
    /// Its record.
    pub waiter: Waiter,
    /// Why it waits. Of one that is parked, `position` is the place to which it would come back.
    pub waiting: Waiting,
}

/// A page of waiters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListSemaphoreWaitersResponse {
    /// In the order in which they are admitted. Those parked stand among them, where they come
    /// back.
    pub waiters: Vec<Waiter>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
