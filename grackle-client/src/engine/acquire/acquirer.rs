//! What the acquires of one client share.

use std::sync::Arc;
use std::time::Duration;

use crate::config::OnDrop;
use crate::engine::cleanup::CleanupTasks;
use crate::engine::load::registry::LoadRegistry;
use crate::engine::missed_answers::Resumer;
use crate::engine::replication::replica_acks::ReplicaAckCounter;
use crate::engine::sweeper::active::ActiveSweeper;
use crate::engine::tasks::Tasks;
use crate::engine::tickets::Tickets;
use crate::engine::waiters::Waiters;
use crate::error::Error;
use crate::scripts::{Call, Scripts};

/// How often, and with which pauses, a dropped call is taken back.
const CANCEL_TRIES: u32 = 60;
const CANCEL_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Acquirer {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) sweeper: Arc<ActiveSweeper>,
    pub(crate) resumer: Arc<Resumer>,
    pub(crate) load: Arc<LoadRegistry>,
    pub(crate) cleanup: CleanupTasks,
    pub(crate) tasks: Tasks,
    pub(crate) on_drop: OnDrop,
    /// Set where grants wait for replicas.
    pub(crate) replica_acks: Option<ReplicaAckCounter>,
}

impl Acquirer {
    /// Redis has queued the call: subscribes for its answer and keeps the namespace swept.
    /// `subscription` is the one that the namespace had when the call was sent.
    pub(super) fn queued(
        &self,
        namespace: &str,
        call: &Call,
        sweep_in: Option<i64>,
        subscription: Option<u64>,
    ) -> Result<(), Error> {
        if let Some(sweep_at) = self.waiters.queued(namespace, &call.ticket)? {
            self.sweeper.start(namespace, sweep_at);
        }
        self.waiters.sweep_within(namespace, sweep_in.unwrap_or(-1));
        let now = self.waiters.subscription(namespace);
        if now.is_some() && now != subscription && self.resumer.gather(namespace, call) {
            // The subscription began meanwhile and asked about all calls but those on their way.
            let (resumer, namespace) = (Arc::clone(&self.resumer), namespace.to_owned());
            self.tasks.spawn(async move { resumer.resume_gathered(&namespace).await });
        }
        Ok(())
    }

    /// Takes a call back whose caller is gone; `left` is the time until its deadline.
    pub(super) fn take_back(&self, namespace: String, call: Call, left: Duration) {
        let keep = match self.on_drop {
            OnDrop::Leave => None,
            OnDrop::Park(grace) => Some(grace.min(left)),
        };
        self.cleanup.spawn(take_back(Arc::clone(&self.scripts), namespace, call, keep));
    }
}

/// Cancels or parks a call, and retries that for as long as Redis may know the call.
async fn take_back(scripts: Arc<Scripts>, namespace: String, call: Call, keep: Option<Duration>) {
    for _ in 0..CANCEL_TRIES {
        let done = match keep {
            None => scripts.cancel(&namespace, &call).await,
            Some(keep) => scripts.park(&namespace, true, &[(call.clone(), keep)]).await.map(drop),
        };
        match done {
            Err(error) if error.leaves_outcome_open() => {
                tracing::debug!(%error, namespace, ?call, "could not take a dropped acquire back; retrying");
                tokio::time::sleep(CANCEL_PAUSE).await;
            }
            _ => return,
        }
    }
    tracing::warn!(
        namespace,
        ?call,
        "could not take a dropped acquire back: what it may hold is held until its lease ends"
    );
}
