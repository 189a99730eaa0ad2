//! Down and up: permits without an owner.

use serde::{Deserialize, Serialize};

use super::acquire::AcquireOutcome;
use super::int64;
use super::semaphore::Semaphore;

/// Takes one permit that no lease owns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DownSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// How long to wait, in seconds, 0 … 3,600 by default; 0 answers at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub timeout_seconds: i64,
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct DownSemaphoreResponse {
    /// The semaphore after it.
    pub semaphore: Semaphore,
    /// Acquired, or why not.
    pub outcome: AcquireOutcome,
}

/// Gives one permit back that no lease owns, whoever took it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UpSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
}
