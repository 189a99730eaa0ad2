//! The sweepers: they end in Redis what has expired.
//!
//! - `active`: in namespaces where calls of this node wait or a semaphore is watched, in time
//! - `idle`: in all others, some time later

pub(crate) mod active;
pub(crate) mod idle;
