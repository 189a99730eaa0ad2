//! A server as its callers and its operator see it, on a real Redis.
//!
//! - `http`: what a caller sees, over real connections
//! - `process`: how the binary starts, fails to start, and ends
#![allow(clippy::unwrap_used)]

mod http;
mod process;
mod support;
