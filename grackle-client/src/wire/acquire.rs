//! Acquire and release.

use serde::{Deserialize, Serialize};

use super::int64;
use super::metadata::Metadata;
use super::semaphore::Semaphore;
use super::waiter::Waiting;

/// Asks for `weight` permits under a lease, all or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AcquireSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// The lease that will own the hold.
    pub lease_id: String,
    /// Permits wanted, 1 … 2^53 − 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub weight: i64,
    /// How long to wait, in seconds, 0 … 3,600 by default; 0 answers at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub timeout_seconds: i64,
    /// What its process gets beside other waiting processes, 1 … 1,000; 0 means 1. It matters where the
    /// discipline is WEIGHTED.
    #[serde(deserialize_with = "int64::deserialize")]
    pub share: i64,
    /// At most 32 entries, shown with the holder.
    pub metadata: Metadata,
    /// Whether an answer that it was not granted says why, in `waiting`. That costs Redis a little more.
    pub explain: bool,
}

/// How an acquire ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AcquireOutcome {
    /// Never answered; what an unset field reads as.
    #[default]
    #[serde(rename = "ACQUIRE_OUTCOME_UNSPECIFIED")]
    Unspecified,
    /// The lease holds the permits.
    #[serde(rename = "ACQUIRE_OUTCOME_ACQUIRED")]
    Acquired,
    /// Not free, and the call was not to wait.
    #[serde(rename = "ACQUIRE_OUTCOME_UNAVAILABLE")]
    Unavailable,
    /// Not granted within the timeout.
    #[serde(rename = "ACQUIRE_OUTCOME_TIMED_OUT")]
    TimedOut,
}

/// How an acquire ended, and the semaphore as it was then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
#[must_use = "an acquire that did not end in `Acquired` holds nothing"]
pub struct AcquireSemaphoreResponse {
    /// Its state right after the call.
    pub semaphore: Semaphore,
    /// How the acquire ended.
    pub outcome: AcquireOutcome,
    /// The fencing token of the hold; 0 unless it was acquired.
    pub fencing_token: i64,
    /// How many replicas are known to have the hold; only where it was acquired, and grants wait for
    /// replicas ([`Config::replica_acks`](crate::Config::replica_acks), `--ack-replicas`).
    ///
    /// Fewer than the setting is no error: the lease holds the permits, but a failover may lose that. The
    /// caller decides whether to go on or to release. It may also be more than the setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acked_replicas: Option<i64>,
    /// Why it was not granted; only where it was not, and the request had `explain`.
    ///
    /// For UNAVAILABLE, it shows the place that the call would have had. For TIMED_OUT, it shows the place
    /// that the call gave up (or, if its wait had ended a moment before, the one that it would get now).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// Releases a lease's hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ReleaseSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// The lease that owns the hold; if it holds nothing there, nothing happens.
    pub lease_id: String,
}
