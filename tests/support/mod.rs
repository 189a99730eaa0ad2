//! What the integration tests stand on: a real Redis, servers before it, and a clock they can move.
//!
//! Read [`TestRedis`] first. A test file takes it in with `mod support;`; none uses all of it.
#![allow(dead_code, unused_imports)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod calls;
mod certificates;
mod clock;
mod cluster;
mod container;
mod disk;
mod docker;
mod events;
mod eventually;
mod http;
mod leftovers;
mod link;
mod looker;
mod monitor;
mod own_redis;
mod port;
mod process;
mod raw;
mod reaper;
mod redis_image;
mod redis_server;
mod replicas;
mod replication;
mod sentinels;
mod server;
mod server_binary;
mod server_process;
mod shared_redis;
mod space;
mod test_redis;
mod tls_redis;
mod traffic;
mod wall_clock;
pub(crate) mod world;

pub(crate) use calls::CommandCalls;
pub(crate) use clock::Clock;
pub(crate) use cluster::Cluster;
pub(crate) use container::RedisContainer;
pub(crate) use docker::docker;
/// What a Redis user must be allowed, beside the keys and channels under its prefix.
pub(crate) const RIGHTS: [&str; 9] = [
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

pub(crate) use disk::Disk;
pub(crate) use events::{Event, Events};
pub(crate) use eventually::{FOR_EVER, SOON, eventually};
pub(crate) use http::{Http, is_acquired};
pub(crate) use link::Link;
pub(crate) use looker::{Looker, changes_heard, until_heard};
pub(crate) use monitor::Monitor;
pub(crate) use own_redis::OwnRedis;
pub(crate) use process::Process;
pub(crate) use raw::Raw;
pub(crate) use redis_server::RedisServer;
pub(crate) use replicas::Replicas;
pub(crate) use sentinels::Sentinels;
pub(crate) use server::{TestServer, config as server_config};
pub(crate) use server_process::ServerProcess;
pub(crate) use space::{Acquired, LONG, Space, granted};
pub(crate) use test_redis::TestRedis;
pub(crate) use tls_redis::TlsRedis;
pub(crate) use traffic::{Traffic, Turn};
pub(crate) use wall_clock::WallClock;
