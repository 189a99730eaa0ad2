//! Distributed weighted semaphores on Redis, with a fair queue, leases and fencing tokens.
//!
//! Start with [`Client`]: every operation is one of its methods. [`Config`] has the settings and limits,
//! [`Error`] what can go wrong.
//!
//! The modules, in reading order:
//!
//! - [`wire`]: requests, answers and records
//! - [`types`]: values of the SDK alone, such as the load of a semaphore
//! - [`field_ranges`]: the fixed ranges of fields
//! - `client`: the public API; it checks a request and hands it to the engine
//! - `engine`: what the calls of one client share: waiters, sweepers, watches, cleanup
//! - `scripts`: one typed function for each Lua file
//! - `transport`: connections to the servers, and which one has a namespace
//! - `validate`, `pagination`, `config`, `error`, `connection_error`: what the others stand on

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod client;
mod config;
mod connection_error;
mod engine;
mod error;
pub mod field_ranges;
mod pagination;
#[doc(hidden)]
pub mod scripts;
mod transport;
pub mod types;
mod validate;
pub mod wire;

pub use client::Client;
pub use config::{Config, Limits, OnDrop, ReplicaAcks};
pub use connection_error::{ConnectionError, ConnectionFault};
pub use engine::SemaphoreWatch;
pub use error::{Error, ErrorKind};
pub use field_ranges::MAX_PERMITS;
pub use transport::warning::{RedisWarning, RedisWarningKind};
pub use validate::is_name;
