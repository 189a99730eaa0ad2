//! Tickets: each call of a client has one, and no other call ever has the same.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::types::random_id;

const NODE_ID_LENGTH: usize = 12;

/// Gives out the tickets of one node.
#[derive(Debug)]
pub(crate) struct Tickets {
    node_id: String,
    next: AtomicU64,
}

impl Tickets {
    /// Those of a new node.
    pub(crate) fn new() -> Self {
        Self { node_id: random_id(NODE_ID_LENGTH), next: AtomicU64::new(0) }
    }

    /// The id of the node, which stands in tickets, keys and channels.
    pub(crate) fn node_id(&self) -> &str {
        &self.node_id
    }

    /// A new ticket, `<node>:<number>`.
    pub(crate) fn next(&self) -> String {
        format!("{}:{}", self.node_id, self.next.fetch_add(1, Ordering::Relaxed))
    }
}
