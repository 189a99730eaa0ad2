//! What Grackle's tests stand on: a real Redis, servers, and a clock that tests move. Never a mock.
//!
//! Start with [`TestRedis`].
//!
//! - Redis: `test_redis`, `shared_redis`, `own_redis`, `redis_server`, `container`; other layouts: `tls_redis`,
//!   `replicas`, `sentinels`, `cluster`
//! - Looking into it: `plain_connection`, `command_calls`, `monitor`, `leftovers`, `replication`
//! - Servers: `server` (in the test's process), `server_process` (the binary), `http`, `events`
//! - Faults: `link` (a network that breaks), `process` (signals), `disk`, `wall_clock`, `traffic`
//! - Time: `clock`, `eventually`
//! - One namespace: `test_namespace` (through a client), `world` (script by script), `watcher`
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod certificates;
mod child_cleanup;
mod clock;
mod cluster;
mod command_calls;
mod container;
mod disk;
mod docker;
mod events;
mod eventually;
mod http;
mod leftovers;
mod link;
mod monitor;
mod own_redis;
mod plain_connection;
mod port;
mod process;
mod redis_image;
mod redis_server;
mod replicas;
mod replication;
mod sentinels;
mod server;
mod server_binary;
mod server_process;
mod shared_redis;
mod test_namespace;
mod test_redis;
mod tls_redis;
mod traffic;
mod wall_clock;
mod watcher;
pub mod world;

pub use clock::Clock;
pub use cluster::Cluster;
pub use command_calls::CommandCalls;
pub use container::RedisContainer;
pub use docker::docker;
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

pub use disk::Disk;
pub use events::{Event, Events};
pub use eventually::{FOR_EVER, SOON, eventually};
pub use http::{Http, is_acquired};
pub use link::Link;
pub use monitor::Monitor;
pub use own_redis::OwnRedis;
pub use plain_connection::PlainConnection;
pub use process::Process;
pub use redis_server::RedisServer;
pub use replicas::Replicas;
pub use sentinels::Sentinels;
pub use server::{TestServer, config as server_config};
pub use server_process::ServerProcess;
pub use test_namespace::{Acquired, LONG, TestNamespace, granted};
pub use test_redis::TestRedis;
pub use tls_redis::TlsRedis;
pub use traffic::{Traffic, Turn};
pub use wall_clock::WallClock;
pub use watcher::{Watcher, changes_seen, until_seen};

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
