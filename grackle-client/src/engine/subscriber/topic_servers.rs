//! Which server each topic is subscribed to at: in a cluster topics move.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::subscriber::topic::Topic;
use crate::transport::topology::Address;

/// A request to the subscriber of one server.
#[derive(Debug)]
pub(crate) enum Request {
    Subscribe(Topic),
    Unsubscribe(Topic),
    /// Redis does not see the subscription: make another connection.
    Reconnect,
}

/// The subscribers by server, and the server of each topic.
#[derive(Debug, Default)]
pub(crate) struct Placement(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    subscribers: HashMap<Address, UnboundedSender<Request>>,
    servers: HashMap<Topic, Address>,
}

impl Placement {
    /// Subscribes to a topic at `address`, and nowhere else. `start` makes the subscriber of a server
    /// that has none yet.
    pub(crate) fn subscribe(
        &self,
        topic: Topic,
        address: Address,
        start: impl FnOnce() -> UnboundedSender<Request>,
    ) {
        let mut state = self.state();
        let before = state.servers.insert(topic.clone(), address.clone());
        if let Some(before) = before.filter(|before| *before != address) {
            state.send(&before, Request::Unsubscribe(topic.clone()));
        }
        state.subscribers.entry(address.clone()).or_insert_with(start);
        state.send(&address, Request::Subscribe(topic));
    }

    pub(crate) fn unsubscribe(&self, topic: Topic) {
        let mut state = self.state();
        if let Some(address) = state.servers.remove(&topic) {
            state.send(&address, Request::Unsubscribe(topic));
        }
    }

    /// Has the server of a topic connected to anew, with all topics there.
    pub(crate) fn reconnect(&self, topic: &Topic) {
        let state = self.state();
        if let Some(address) = state.servers.get(topic) {
            state.send(address, Request::Reconnect);
        }
    }

    /// Those of the topics that belong to that server.
    pub(crate) fn at(&self, address: &str, topics: &[Topic]) -> Vec<Topic> {
        let state = self.state();
        let here = |topic: &&Topic| state.servers.get(*topic).is_some_and(|at| at == address);
        topics.iter().filter(here).cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn send(&self, address: &str, request: Request) {
        if let Some(subscriber) = self.subscribers.get(address) {
            // A subscriber ends only with the client.
            let _ = subscriber.send(request);
        }
    }
}
