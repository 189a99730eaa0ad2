//! Clients and servers against a real Redis: what callers are promised, with faults and without.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod access;
mod cancellation;
mod container;
mod cost;
mod durability;
mod fixture;
mod http_semaphores;
mod idle_sweeper;
mod nodes;
mod outages;
mod redis_warnings;
mod replica_acks;
mod waiting;
mod watch;
mod watch_http;
mod wrong_urls;
