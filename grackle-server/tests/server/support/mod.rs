//! A server in this process or as a binary, and a client that sends no more than it must.

pub(crate) mod binary;
pub(crate) mod http;
pub(crate) mod server;
