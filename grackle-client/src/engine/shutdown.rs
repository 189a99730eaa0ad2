//! Shutting down: parks the waiting calls, so that their leases get their places back elsewhere.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use crate::engine::cleanup::CleanupTasks;
use crate::engine::missed_answers::BATCH;
use crate::engine::subscriber::Subscribers;
use crate::engine::subscriber::topic::Topic;
use crate::engine::waiters::{Answer, Waiters, shutting_down};
use crate::engine::watch::registry::WatchRegistry;
use crate::error::Error;
use crate::scripts::{Call, CallState, Scripts};

/// How long Redis may take. Then callers are answered all the same, within the time that a server
/// gives them.
const WITHIN: Duration = Duration::from_secs(2);

pub(crate) struct Shutdown {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) watches: Arc<WatchRegistry>,
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) cleanup: CleanupTasks,
}

impl Shutdown {
    pub(crate) async fn run(&self) {
        let unsubscribe = |watched| self.subscribers.unsubscribe(Topic::Semaphore(watched));
        self.watches.close(unsubscribe);
        let deadline = Instant::now() + WITHIN;
        for (namespace, calls) in self.waiters.close() {
            for calls in calls.chunks(BATCH) {
                let states = self.park(&namespace, calls, deadline).await;
                self.answer(&namespace, calls, states);
            }
        }
        if timeout(WITHIN, self.cleanup.done()).await.is_err() {
            tracing::warn!(
                "Redis does not answer: what dropped calls have left stays until their leases end"
            );
        }
    }

    async fn park(
        &self,
        namespace: &str,
        calls: &[(Call, Duration)],
        deadline: Instant,
    ) -> Vec<CallState> {
        let park = self.scripts.park(namespace, false, calls);
        let silent = || Error::unavailable("no answer from Redis in time");
        let parked = timeout_at(deadline, park).await.unwrap_or_else(|_| Err(silent()));
        parked.unwrap_or_else(|error| {
            tracing::warn!(
                %error, namespace,
                "could not park {} waiting calls: their places go as those of a node that dies",
                calls.len()
            );
            vec![CallState::Waiting; calls.len()]
        })
    }

    fn answer(&self, namespace: &str, calls: &[(Call, Duration)], states: Vec<CallState>) {
        for ((call, _), state) in calls.iter().zip(states) {
            match state {
                CallState::Answered(reply) => {
                    self.waiters.answer_reply(namespace, &call.ticket, &reply);
                }
                _ => {
                    let refused = Answer::Failed(shutting_down());
                    self.waiters.answer(namespace, &call.ticket, refused);
                }
            }
        }
    }
}
