//! Asks Redis about waiting calls whose messages may have been lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::waiters::{Answer, Waiters};
use crate::error::Error;
use crate::scripts::{Call, CallState, Scripts};

/// Calls that one script takes.
pub(crate) const BATCH: usize = 500;
/// How long calls are gathered that one script is to ask about.
const GATHER: Duration = Duration::from_millis(2);

/// Brings waiting calls up to date with Redis.
pub(crate) struct Resumer {
    scripts: Arc<Scripts>,
    waiters: Arc<Waiters>,
    gathered: Gathered,
}

/// Calls, by namespace, that are asked about together.
#[derive(Default)]
struct Gathered(Mutex<HashMap<String, Vec<Call>>>);

impl Gathered {
    /// True for the first call of a batch.
    fn push(&self, namespace: &str, call: &Call) -> bool {
        let mut all = self.all();
        let calls = all.entry(namespace.to_owned()).or_default();
        calls.push(call.clone());
        calls.len() == 1
    }

    fn take(&self, namespace: &str) -> Vec<Call> {
        self.all().remove(namespace).unwrap_or_default()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<Call>>> {
        // Nothing panics while it holds the lock half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resumer {
    pub(crate) fn new(scripts: Arc<Scripts>, waiters: Arc<Waiters>) -> Self {
        Self { scripts, waiters, gathered: Gathered::default() }
    }

    /// Asks about all calls that wait in a namespace.
    pub(crate) async fn resume_all(&self, namespace: &str) -> Result<(), Error> {
        self.resume(namespace, &self.waiters.calls(namespace)).await
    }

    /// Adds a call to the next batch; true for the first of it: then run
    /// [`resume_gathered`](Self::resume_gathered).
    pub(crate) fn gather(&self, namespace: &str, call: &Call) -> bool {
        self.gathered.push(namespace, call)
    }

    /// Asks once for all calls that arrive within a moment.
    pub(crate) async fn resume_gathered(&self, namespace: &str) {
        tokio::time::sleep(GATHER).await;
        let calls = self.gathered.take(namespace);
        if let Err(error) = self.resume(namespace, &calls).await {
            tracing::warn!(
                %error, namespace,
                "could not ask Redis about waiting calls; the next subscription asks again"
            );
        }
    }

    async fn resume(&self, namespace: &str, calls: &[Call]) -> Result<(), Error> {
        for calls in calls.chunks(BATCH) {
            match self.scripts.resume(namespace, calls).await {
                Ok((sweep_in, states)) => {
                    self.waiters.sweep_within(namespace, sweep_in);
                    self.answer(namespace, calls, states);
                }
                Err(Error::NamespaceNotFound) => self.fail(namespace, calls),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn answer(&self, namespace: &str, calls: &[Call], states: Vec<CallState>) {
        for (call, state) in calls.iter().zip(states) {
            match state {
                CallState::Waiting => {}
                CallState::Unknown => {
                    self.waiters.answer(namespace, &call.ticket, Answer::AskAgain);
                }
                CallState::Answered(reply) => {
                    self.waiters.answer_reply(namespace, &call.ticket, &reply);
                }
            }
        }
    }

    fn fail(&self, namespace: &str, calls: &[Call]) {
        for call in calls {
            let error = Answer::Failed(Error::NamespaceNotFound);
            self.waiters.answer(namespace, &call.ticket, error);
        }
    }
}
