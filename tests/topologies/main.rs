//! The same promises on every layout of Redis.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod acl;
mod cluster;
mod core_suite;
mod failover;
mod queue;
mod sentinel;
mod tcp;
mod tls;
mod unix_socket;
