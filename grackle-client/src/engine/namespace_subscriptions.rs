//! The subscriptions to namespaces, which last while calls wait or a semaphore is watched there.

use std::sync::Arc;

use crate::engine::subscriber::Subscribers;
use crate::engine::subscriber::topic::Topic;
use crate::engine::waiters::Waiters;
use crate::engine::watch::registry::WatchRegistry;

pub(crate) struct NamespaceSubscriptions {
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) watches: Arc<WatchRegistry>,
    pub(crate) subscribers: Arc<Subscribers>,
}

impl NamespaceSubscriptions {
    pub(crate) fn subscribe(&self, namespace: &str) {
        self.subscribers.subscribe(topic(namespace));
    }

    /// Redis does not see this node's subscription, which may be at the wrong server.
    pub(crate) fn resubscribe(&self, namespace: &str) {
        self.subscribers.reconnect(&topic(namespace));
    }

    /// Unsubscribes, unless the namespace is still in use; then returns false.
    pub(crate) fn unsubscribe_unused(&self, namespace: &str) -> bool {
        let unused = || !self.watches.any_in(namespace);
        let unsubscribe = || self.subscribers.unsubscribe(topic(namespace));
        self.waiters.deactivate(namespace, unused, unsubscribe)
    }

    /// Follows the namespaces that move to another server while they are in use.
    pub(crate) async fn follow(
        self: Arc<Self>,
        mut moved: tokio::sync::mpsc::UnboundedReceiver<String>,
    ) {
        while let Some(namespace) = moved.recv().await {
            if self.waiters.is_active(&namespace) {
                self.waiters.moved(&namespace);
                self.subscribe(&namespace);
            }
            self.watches.each_in(&namespace, |semaphore| {
                self.subscribers.subscribe(Topic::Semaphore(semaphore.clone()));
            });
        }
    }
}

fn topic(namespace: &str) -> Topic {
    Topic::Namespace(namespace.to_owned())
}
