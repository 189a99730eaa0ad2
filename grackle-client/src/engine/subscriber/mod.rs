//! The subscriber: the connections on which a client receives messages from Redis.
//!
//! - `topic`: what a node subscribes to
//! - `topic_servers`: which server each topic is subscribed to at
//! - `inbox`: where messages go
//! - `connection`: the connection to one server

pub(crate) mod connection;
pub(crate) mod inbox;
mod subscribers;
pub(crate) mod topic;
pub(crate) mod topic_servers;

pub(crate) use subscribers::Subscribers;
