//! Why a connection to Redis can't be used, by what went wrong and in words for an operator.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;

use deadpool_redis::redis::{ErrorKind, RedisError, ServerErrorKind};

/// What is wrong with a connection to Redis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionFault {
    /// User or password is wrong or missing.
    WrongPassword,
    /// The user may not run a command that Grackle needs.
    NoRights,
    /// What answers there is not a Redis.
    NotRedis,
    /// It runs no scripts: it is a Sentinel.
    NoScripts,
    /// It is a node of a cluster.
    ClusterNode,
    /// No answer came in time.
    NoAnswer,
    /// Nobody listens at the address.
    NobodyListens,
    /// It closed the connection.
    Closed,
    /// Its TLS certificate is not trusted.
    Certificate,
    /// Anything else: the text says what.
    Other,
}

/// The source of an [`Error::Unavailable`](crate::Error::Unavailable) that Redis or the way to it caused.
#[derive(Debug)]
pub struct ConnectionError {
    fault: ConnectionFault,
    error: RedisError,
}

impl ConnectionError {
    /// What is wrong, for a program that gives advice.
    pub fn fault(&self) -> ConnectionFault {
        self.fault
    }

    /// Redis refused this user.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.fault, ConnectionFault::WrongPassword | ConnectionFault::NoRights)
    }
}

impl From<RedisError> for ConnectionError {
    fn from(error: RedisError) -> Self {
        Self { fault: fault(&error), error }
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.error;
        match self.fault {
            ConnectionFault::WrongPassword => {
                write!(f, "user or password is wrong or missing ({error})")
            }
            ConnectionFault::NotRedis => f.write_str("what answers there is not a Redis"),
            ConnectionFault::NoScripts => f.write_str(
                "it runs no scripts; a Sentinel's URL is redis+sentinel://host:port,…/<master>",
            ),
            ConnectionFault::ClusterNode => write!(
                f,
                "it is one of a cluster ({error}), whose URL is redis+cluster://host:port,…"
            ),
            ConnectionFault::NoAnswer => f.write_str("no answer in time"),
            ConnectionFault::NobodyListens => write!(f, "nobody listens there ({error})"),
            ConnectionFault::Closed => write!(f, "it closed the connection ({error})"),
            ConnectionFault::Certificate => {
                write!(f, "its certificate is not trusted ({error})")
            }
            ConnectionFault::NoRights | ConnectionFault::Other => error.fmt(f),
        }
    }
}

impl StdError for ConnectionError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

fn fault(error: &RedisError) -> ConnectionFault {
    match code_and_detail(error).0 {
        "NOAUTH" | "WRONGPASS" => return ConnectionFault::WrongPassword,
        "NOPERM" | "DENIED" => return ConnectionFault::NoRights,
        _ => {}
    }
    if error.kind() == ErrorKind::AuthenticationFailed {
        ConnectionFault::WrongPassword
    } else if error.kind() == ErrorKind::Parse {
        ConnectionFault::NotRedis
    } else if runs_no_scripts(error) {
        ConnectionFault::NoScripts
    } else if error.is_timeout() {
        ConnectionFault::NoAnswer
    } else if error.is_connection_refusal() {
        ConnectionFault::NobodyListens
    } else if error.is_connection_dropped() {
        ConnectionFault::Closed
    } else if error.kind() == ErrorKind::Server(ServerErrorKind::Moved) {
        ConnectionFault::ClusterNode
    } else if is_untrusted_certificate(error) {
        ConnectionFault::Certificate
    } else {
        ConnectionFault::Other
    }
}

/// Redis has no code of its own for a command that it does not know, so the text has to do.
pub(crate) fn runs_no_scripts(error: &RedisError) -> bool {
    let (_, detail) = code_and_detail(error);
    detail.starts_with("unknown command") && detail.contains("EVALSHA")
}

/// What rustls says of a certificate comes inside an I/O error, which redis shares in an [`Arc`].
fn is_untrusted_certificate(error: &RedisError) -> bool {
    let shared = StdError::source(error)
        .and_then(|source| source.downcast_ref::<Arc<dyn StdError + Send + Sync>>());
    let io = shared.and_then(|shared| shared.downcast_ref::<io::Error>());
    let tls = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// The code of what a server answered, and the text. Redis before 7 wraps what a command inside a
/// script was answered: `ERR Error running script (…): -OOM command not allowed …`.
pub(crate) fn code_and_detail(error: &RedisError) -> (&str, &str) {
    let (code, detail) = (error.code().unwrap_or_default(), error.detail().unwrap_or_default());
    let inner =
        (code == "ERR").then(|| detail.split_once(": -").and_then(|(_, it)| it.split_once(' ')));
    inner.flatten().unwrap_or((code, detail))
}
