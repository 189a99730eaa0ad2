//! Grants that wait for replicas.
//!
//! - `grant`: a grant whose caller waits
//! - `replica_acks`: waits until enough replicas have a grant
//! - `wait_loop`: runs WAIT on one server

pub(crate) mod grant;
pub(crate) mod replica_acks;
pub(crate) mod wait_loop;
