//! The subscriber: the connections on which a client receives messages from Redis.
//!
//! - `topic`: what a node subscribes to
//! - `placement`: which server each topic is subscribed to at
//! - `inbox`: where messages go
//! - `connection`: the connection to one server

pub(crate) mod connection;
pub(crate) mod inbox;
pub(crate) mod placement;
mod subscribers;
pub(crate) mod topic;

pub(crate) use subscribers::Subscribers;
