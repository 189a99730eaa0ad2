//! What Grackle's tests stand on: a real Redis, servers, and a clock that tests move. Never a mock.
//!
//! Start with [`TestRedis`].
//!
//! - Redis: `test_redis`, `shared_redis`, `own_redis`, `redis_server`, `container`; other layouts: `tls_redis`,
//!   `replicas`, `sentinels`, `cluster`
//! - Looking into it: `raw_connection`, `command_calls`, `monitor`, `leftovers`, `replica_progress`
//! - Servers: `server` (in the test's process), `server_process` (the binary), `http`, `events`
//! - Faults: `breakable_link` (a network that breaks), `process` (signals), `disk`, `process_clock`, `traffic`
//! - Time: `namespace_clock`, `eventually`
//! - One namespace: `test_namespace` (through a client), `script_world` (script by script), `watcher`
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod breakable_link;
mod certificates;
mod child_cleanup;
mod cluster;
mod command_calls;
mod container;
mod disk;
mod docker;
mod events;
mod eventually;
mod http;
mod leftovers;
mod monitor;
mod namespace_clock;
mod own_redis;
mod port;
mod process;
mod process_clock;
mod raw_connection;
mod redis_image;
mod redis_server;
mod replica_progress;
mod replicas;
pub mod script_world;
mod sentinels;
mod server;
mod server_binary;
mod server_process;
mod shared_redis;
mod test_namespace;
mod test_redis;
mod tls_redis;
mod traffic;
mod watcher;

pub use breakable_link::Link;
pub use cluster::Cluster;
pub use command_calls::CommandCalls;
pub use container::RedisContainer;
pub use disk::Disk;
pub use docker::docker;
pub use events::{Event, Events};
pub use eventually::{FOR_EVER, SOON, eventually};
pub use http::{Http, is_acquired};
pub use monitor::Monitor;
pub use namespace_clock::Clock;
pub use own_redis::OwnRedis;
pub use process::Process;
pub use process_clock::ProcessClock;
pub use raw_connection::RawConnection;
pub use redis_server::RedisServer;
pub use replicas::Replicas;
pub use sentinels::Sentinels;
pub use server::{TestServer, config as server_config};
pub use server_process::ServerProcess;
pub use test_namespace::{Acquired, LONG, TestNamespace, granted};
pub use test_redis::TestRedis;
pub use tls_redis::TlsRedis;
pub use traffic::{Traffic, Turn};
pub use watcher::{Watcher, changes_seen, until_seen};

/// What a Redis user must be allowed, beside the keys and channels under its prefix.
pub const RIGHTS: [&str; 9] = [
    "+@connection",
    "+@hash",
    "+@sortedset",
    "+@pubsub",
    "+@scripting",
    "+info",
    "+exists",
    "+del",
    "+time",
];

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
