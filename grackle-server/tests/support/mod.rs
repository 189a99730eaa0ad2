//! A server in this process or as a binary, and a client that speaks no more than it must.

#![allow(dead_code)]
#![allow(clippy::unwrap_used)]

pub(crate) mod binary;
pub(crate) mod http;
pub(crate) mod server;
