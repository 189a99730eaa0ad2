//! Distributed weighted semaphores, backed by Redis.

pub mod config;
mod client;
mod error;
pub mod types;

pub use client::Client;
pub use config::{Config, Limits, OnDrop};
pub use error::{Error, ErrorKind};
