//! What the integration tests stand on: a real Redis, servers before it, and a clock they can move.
//!
//! Read [`TestRedis`] first. A test file takes it in with `mod support;`; none uses all of it.
#![allow(dead_code, unused_imports)]
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod calls;
mod clock;
mod container;
mod eventually;
mod http;
mod leftovers;
mod link;
mod monitor;
mod own_redis;
mod port;
mod process;
mod raw;
mod reaper;
mod redis_server;
mod server;
mod server_binary;
mod server_process;
mod shared_redis;
mod space;
mod test_redis;
pub(crate) mod world;

pub(crate) use calls::CommandCalls;
pub(crate) use clock::Clock;
pub(crate) use eventually::eventually;
pub(crate) use http::{Http, is_acquired};
pub(crate) use link::Link;
pub(crate) use monitor::Monitor;
pub(crate) use own_redis::OwnRedis;
pub(crate) use process::Process;
pub(crate) use raw::Raw;
pub(crate) use server::{TestServer, config as server_config};
pub(crate) use server_process::ServerProcess;
pub(crate) use space::{Acquired, LONG, Space, granted};
pub(crate) use test_redis::TestRedis;
