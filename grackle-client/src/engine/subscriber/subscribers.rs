//! One subscriber for each server that has a topic of this node.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedSender};

use crate::engine::subscriber::connection::SubscriberConnection;
use crate::engine::subscriber::inbox::Inbox;
use crate::engine::subscriber::topic::Topic;
use crate::engine::subscriber::topic_servers::{Placement, Request};
use crate::transport::topology::{Address, Topology};

pub(crate) struct Subscribers {
    pub(crate) topology: Arc<Topology>,
    pub(crate) node_id: String,
    pub(crate) timeout: Duration,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) placement: Arc<Placement>,
}

impl Subscribers {
    /// Subscribes to a topic at the server that has it now.
    pub(crate) fn subscribe(&self, topic: Topic) {
        let address = self.topology.address(topic.namespace());
        self.placement.subscribe(topic, address.clone(), || self.start(address));
    }

    pub(crate) fn unsubscribe(&self, topic: Topic) {
        self.placement.unsubscribe(topic);
    }

    /// Subscribes to a topic, and to all others at the same server, on another connection.
    pub(crate) fn reconnect(&self, topic: &Topic) {
        self.placement.reconnect(topic);
    }

    fn start(&self, address: Address) -> UnboundedSender<Request> {
        let (sender, requests) = mpsc::unbounded_channel();
        let connection = SubscriberConnection::new(
            Arc::clone(&self.topology),
            address,
            self.node_id.clone(),
            self.timeout,
            (Arc::clone(&self.placement), Arc::clone(&self.inbox)),
            requests,
        );
        self.inbox.tasks.spawn(connection.run());
        sender
    }
}
