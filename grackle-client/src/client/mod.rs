//! The public API of the SDK: each operation checks its request and hands it to the engine.
//!
//! - `connect`: making a client, and ending it
//! - `namespaces`, `semaphores`, `leases`: records, created, read, updated and deleted
//! - `permits`: acquired and released; holders and waiters
//! - `plain_semaphores`: permits that no lease owns
//! - `observe`: watching semaphores, and their load
//! - `diagnostics`: the state of Redis

mod connect;
mod diagnostics;
mod leases;
mod namespaces;
mod observe;
mod permits;
mod plain_semaphores;
mod semaphores;

pub use connect::Client;
