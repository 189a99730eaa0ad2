//! The Grackle server: every operation of [`grackle_client`] over HTTP/JSON.
//!
//! A thin shell: all that matters is in Redis, so any pod answers any call. Where to read on:
//!
//! 1. `config`: flags, environment variables and their defaults; `redis_url` keeps secrets out of
//!    what is said.
//! 2. `server`: [`run`], from the first connection to the last answer.
//! 3. `operations`: the table of operations, each a route, a method of the client and an entry
//!    of the OpenAPI document; `body` receives what is sent, `json` reads it, `error` is the form of
//!    what fails.
//! 4. `http`: the router; `watch`: the one operation that is a stream; `http_semaphores`: semaphores
//!    without leases; `pages`: health, `readiness`, metrics with the `loads` of single semaphores;
//!    `openapi`: the document.
//! 5. `connections`: accepting, time limits, graceful end.
//! 6. `embedded_redis`: the private child that runs when no Redis is given.

mod app;
mod body;
mod config;
mod connections;
mod embedded_redis;
mod error;
mod http;
mod http_semaphores;
mod json;
mod loads;
mod metrics;
mod openapi;
mod operations;
mod pages;
mod readiness;
mod redis_url;
mod server;
mod watch;

pub use config::{Config, LimitArgs, LogFormat};
pub use embedded_redis::EmbeddedRedisError;
pub use server::{StartError, run};
