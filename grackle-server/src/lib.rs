//! The Grackle server: every operation of [`grackle_client`] over HTTP/JSON.
//!
//! It is a thin shell: the state is in Redis, so any server answers any call. In reading order:
//!
//! - `config`: flags, environment variables and their defaults
//! - `server`: [`run`], from the first connection to the last answer
//! - `operation`: the table of operations
//! - `error`: error answers
//! - `http`: every path
//! - `openapi`: the description of the paths
//! - `metrics`, `readiness`: what `/metrics` and `/readyz` show
//! - `connections`: accepting, time limits, graceful end
//! - `embedded_redis`: the private Redis that runs where no other is given

mod config;
mod connections;
mod embedded_redis;
mod error;
mod http;
mod metrics;
mod openapi;
mod operation;
mod readiness;
mod server;

pub use config::{Config, LimitArgs, LogFormat};
pub use embedded_redis::EmbeddedRedisError;
pub use server::{StartError, run};
