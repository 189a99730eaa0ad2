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

mod acks;
mod acquire;
mod checkup;
mod client;
mod config;
mod convoys;
mod down;
mod errands;
mod error;
mod heard;
mod keys;
mod lane;
mod lanes;
mod node;
mod patrol;
#[doc(hidden)]
pub mod scripts;
mod semaphore_watch;
mod series;
mod servers;
mod stand_ins;
mod tidy;
mod token;
mod topic;
pub mod types;
mod validate;
mod waits;
mod wakeup;
mod warning;
mod watch;
mod watches;
mod witness;

pub use client::Client;
pub use config::{Config, Limits, OnDrop, ReplicaAcks};
pub use error::{Error, ErrorKind};
pub use semaphore_watch::SemaphoreWatch;
pub use validate::is_name;
pub use warning::{RedisWarning, RedisWarningKind};
