//! How Redis is reached: which server has a namespace, and the connections to it.

pub(crate) mod backoff;
mod cluster;
pub(crate) mod connection;
pub(crate) mod diagnostics;
pub(crate) mod keys;
mod redis_url;
pub(crate) mod router;
pub(crate) mod topology;
pub(crate) mod warning;
