//! Background tasks: they run on the client's runtime until the client ends.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Starts background tasks.
#[derive(Debug, Clone)]
pub(crate) struct Tasks {
    runtime: Handle,
    ended: CancellationToken,
}

/// Keeps the background tasks running: they end when the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Lifetime {
    _guard: Arc<DropGuard>,
}

impl Tasks {
    /// Tasks on the runtime of the caller.
    pub(crate) fn new() -> (Self, Lifetime) {
        let ended = CancellationToken::new();
        let lifetime = Lifetime { _guard: Arc::new(ended.clone().drop_guard()) };
        (Self { runtime: Handle::current(), ended }, lifetime)
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Runs a task until it is done or the client ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ended = self.ended.clone();
        self.runtime.spawn(async move {
            ended.run_until_cancelled(task).await;
        });
    }
}
