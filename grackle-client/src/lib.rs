//! Distributed weighted semaphores on Redis, with a fair queue, leases and fencing tokens.
//!
//! Start with [`Client`]: every operation is a method of it. [`types`] has the requests, the
//! answers and the records; [`Config`] the settings and limits; [`Error`] what can go wrong.
//!
//! How it works, in reading order: `client` checks a request, `acquire` is the wait of one call,
//! `node` what the calls of one client share; `waits` maps those that wait, `wakeup` hears their
//! answers, `patrol` sweeps what expires, `tidy` what nobody waits for;
//! `down` takes a permit without an owner, waiting under one of the `stand_ins`, and tells Redis with what
//! it `heard` which calls it may forget; `errands` put in order what callers left that are gone;
//! `semaphore_watch` is the stream of one who looks on, `watches` maps what this node watches, `watch` is
//! one of those, and a `topic` what it hears of; `convoys` has a `series` of what this node sees of a
//! semaphore; `acks` has a grant wait for replicas, through the `witness` of its server. `scripts` runs the Lua files over the `lanes`, one a
//! server; `servers` knows which has what. `checkup` finds what the `warning`s are about.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod client;
mod config;
mod engine;
mod error;
mod pagination;
pub mod ranges;
#[doc(hidden)]
pub mod scripts;
mod transport;
pub mod types;
mod validate;
pub mod wire;

pub use client::Client;
pub use config::{Config, Limits, OnDrop, ReplicaAcks};
pub use engine::SemaphoreWatch;
pub use error::{Error, ErrorKind};
pub use ranges::MAX_PERMITS;
pub use transport::warning::{RedisWarning, RedisWarningKind};
pub use validate::is_name;
