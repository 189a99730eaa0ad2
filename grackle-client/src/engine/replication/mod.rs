//! Replication.

pub(crate) mod replica_acks;
pub(crate) mod wait_loop;
