//! What can go wrong, each variant a different thing to do about it.

use std::error::Error as StdError;

use deadpool_redis::redis::{ErrorKind as RedisErrorKind, RedisError, ServerErrorKind};

use crate::connection_error::{ConnectionError, code_and_detail, runs_no_scripts};

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the request is out of its range: correct the call.
    #[error("{field}: {reason}")]
    InvalidField {
        /// The field's name, as in the request.
        field: &'static str,
        /// What it must be.
        reason: String,
    },
    /// Somebody else updated the record: read it again, then decide.
    #[error("version mismatch")]
    VersionMismatch,
    /// The semaphore does not have that many permits: ask for less, or raise its permits.
    #[error("weight exceeds semaphore permits")]
    WeightExceedsPermits,
    /// More is held than the new permits allow: wait for releases, or ask for more.
    #[error("permits: less than the active holds")]
    PermitsBelowActiveHolds,
    /// Create the namespace first.
    #[error("namespace not found")]
    NamespaceNotFound,
    /// Create the semaphore first; it may have been deleted during the wait.
    #[error("semaphore not found")]
    SemaphoreNotFound,
    /// The lease has ended, and with it all that it held: make a new one.
    #[error("lease not found")]
    LeaseNotFound,
    /// The lease does not wait there: it was granted, it has given up, or it never asked. If it has a
    /// hold, that is among the semaphore's holders.
    #[error("waiter not found")]
    WaiterNotFound,
    /// The namespace exists; it was not changed.
    #[error("namespace already exists")]
    NamespaceExists,
    /// The semaphore exists; it was not changed.
    #[error("semaphore already exists")]
    SemaphoreExists,
    /// A limit is reached: free something, or raise the limit.
    #[error("limit reached: {limit}")]
    ResourceExhausted {
        /// The limit's name, as in the configuration.
        limit: String,
    },
    /// Redis did not answer in time, or this client shuts down: call again. That is safe, except for
    /// [`up_semaphore`](crate::Client::up_semaphore).
    #[error("unavailable: {reason}")]
    Unavailable {
        /// What happened, and what an operator can do.
        reason: String,
        /// The error of the connection, if there is one.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// Redis holds or answered something that is not Grackle's: check that nothing else uses the key
    /// prefix.
    #[error("internal: {reason}")]
    Internal {
        /// What was unexpected.
        reason: String,
        /// The error behind it, if there is one.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
}

/// The class of an [`Error`], for a transport to map to its status codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call itself is wrong.
    InvalidArgument,
    /// Something that the call names does not exist.
    NotFound,
    /// Something that the call would create exists.
    AlreadyExists,
    /// A limit is reached.
    ResourceExhausted,
    /// Redis did not answer in time.
    Unavailable,
    /// A fault.
    Internal,
}

impl Error {
    /// The class of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::InvalidField { .. }
            | Self::VersionMismatch
            | Self::WeightExceedsPermits
            | Self::PermitsBelowActiveHolds => ErrorKind::InvalidArgument,
            Self::NamespaceNotFound
            | Self::SemaphoreNotFound
            | Self::LeaseNotFound
            | Self::WaiterNotFound => ErrorKind::NotFound,
            Self::NamespaceExists | Self::SemaphoreExists => ErrorKind::AlreadyExists,
            Self::ResourceExhausted { .. } => ErrorKind::ResourceExhausted,
            Self::Unavailable { .. } => ErrorKind::Unavailable,
            Self::Internal { .. } => ErrorKind::Internal,
        }
    }

    /// May what was asked have happened all the same?
    pub(crate) fn leaves_outcome_open(&self) -> bool {
        matches!(self.kind(), ErrorKind::Unavailable | ErrorKind::Internal)
    }

    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), source: None }
    }

    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        Self::Internal { reason: reason.into(), source: None }
    }
}

/// Errors of scripts are a code, a space, and a text for people.
impl Error {
    pub(crate) fn from_redis(error: RedisError) -> Self {
        let (code, detail) = code_and_detail(&error);
        match Self::from_code(code, detail) {
            Some(known) => known,
            None => Self::from_connection(error),
        }
    }

    /// The error that a message carries, as `CODE text`.
    pub(crate) fn from_text(text: &str) -> Self {
        let (code, detail) = text.split_once(' ').unwrap_or((text, ""));
        Self::from_code(code, detail)
            .unwrap_or_else(|| Self::internal(format!("a message says {text:?}")))
    }

    fn from_code(code: &str, detail: &str) -> Option<Self> {
        Some(match code {
            "NO_NAMESPACE" => Self::NamespaceNotFound,
            "NO_SEMAPHORE" => Self::SemaphoreNotFound,
            "NO_LEASE" => Self::LeaseNotFound,
            "NO_WAITER" => Self::WaiterNotFound,
            "NAMESPACE_EXISTS" => Self::NamespaceExists,
            "SEMAPHORE_EXISTS" => Self::SemaphoreExists,
            "REORDERED" => Self::InvalidField {
                field: "pagination_token",
                reason: format!("{detail}: begin with the first page"),
            },
            "VERSION_MISMATCH" => Self::VersionMismatch,
            "WEIGHT_EXCEEDS_PERMITS" => Self::WeightExceedsPermits,
            "PERMITS_BELOW_HOLDS" => Self::PermitsBelowActiveHolds,
            "LIMIT" => Self::ResourceExhausted { limit: detail.to_owned() },
            "NOREPLICAS" => Self::unavailable(
                "Redis takes no writes while fewer replicas follow it than its \
                 min-replicas-to-write says; ask again when they are back",
            ),
            "OOM" => Self::ResourceExhausted { limit: "Redis' maxmemory".to_owned() },
            _ => return None,
        })
    }

    fn from_connection(error: RedisError) -> Self {
        let response = RedisErrorKind::Server(ServerErrorKind::ResponseError);
        if error.kind() == response && !runs_no_scripts(&error) {
            return Self::Internal {
                reason: format!("Redis answers {error}"),
                source: Some(Box::new(error)),
            };
        }
        let error = ConnectionError::from(error);
        let reason = if error.is_refusal() {
            format!("Redis refuses this user: {error}; check user, password and ACL of the URL")
        } else {
            format!("no answer from Redis: {error}; check its address, then ask again")
        };
        Self::Unavailable { reason, source: Some(Box::new(error)) }
    }
}
