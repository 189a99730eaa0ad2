//! Where messages go: to the calls and the watches that wait for them.

use std::sync::Arc;

use crate::engine::missed_answers::Resumer;
use crate::engine::subscriber::topic::Topic;
use crate::engine::tasks::Tasks;
use crate::engine::waiters::Waiters;
use crate::engine::watch::registry::WatchRegistry;
use crate::scripts::{Message, Scripts};
use crate::transport::backoff::Backoff;
use crate::transport::keys::Keys;

pub(crate) struct Inbox {
    pub(crate) keys: Keys,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) watches: Arc<WatchRegistry>,
    pub(crate) resumer: Arc<Resumer>,
    pub(crate) tasks: Tasks,
}

impl Inbox {
    /// A message came in.
    pub(crate) fn receive(&self, channel: &str, payload: &[u8]) {
        if let Some((namespace, name)) = self.keys.watched_of(channel) {
            self.watches.message(namespace, name, payload);
        } else if let Some(namespace) = self.keys.namespace_of(channel) {
            self.receive_answer(namespace, payload);
        }
    }

    fn receive_answer(&self, namespace: &str, payload: &[u8]) {
        match self.scripts.message(namespace, payload) {
            Ok(Message::Answer { calls, answer }) => {
                for ticket in &calls {
                    self.waiters.answer_reply(namespace, ticket, &answer);
                }
            }
            Ok(Message::Sweep { sweep_in }) => self.waiters.sweep_within(namespace, sweep_in),
            Err(error) => {
                tracing::warn!(%error, namespace, "unknown message on Grackle's channel; ignored");
            }
        }
    }

    /// Subscriptions have begun. Messages sent before were lost, so Redis is asked about them.
    pub(crate) fn subscribed(&self, topics: Vec<Topic>, subscription: u64) {
        self.waiters.subscribed(namespaces(&topics), subscription);
        for topic in topics {
            match topic {
                Topic::Namespace(namespace) => {
                    let resume = resume(self.waiters.clone(), self.resumer.clone(), namespace);
                    self.tasks.spawn(resume);
                }
                Topic::Semaphore(semaphore) => self.watches.subscribed(&semaphore),
            }
        }
    }

    /// The connection with these subscriptions is lost.
    pub(crate) fn unsubscribed<'a>(
        &self,
        topics: impl IntoIterator<Item = &'a Topic>,
        subscription: u64,
    ) {
        self.waiters.unsubscribed(namespaces(topics), subscription);
    }
}

fn namespaces<'a>(topics: impl IntoIterator<Item = &'a Topic>) -> impl Iterator<Item = &'a String> {
    topics.into_iter().filter_map(|topic| match topic {
        Topic::Namespace(namespace) => Some(namespace),
        Topic::Semaphore(_) => None,
    })
}

/// Asks about a namespace's calls until Redis answers, or the subscription is lost again.
async fn resume(waiters: Arc<Waiters>, resumer: Arc<Resumer>, namespace: String) {
    while let Err(error) = resumer.resume_all(&namespace).await {
        if waiters.subscription(&namespace).is_none() {
            tracing::debug!(%error, namespace, "the subscription is lost again");
            return;
        }
        tracing::warn!(%error, namespace, "could not ask Redis about waiting calls; retrying");
        tokio::time::sleep(Backoff::LONGEST).await;
    }
}
