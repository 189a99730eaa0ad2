//! Cleanup tasks: they undo in Redis what calls have left whose callers are gone.

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// The cleanup tasks of a client. They outlive the client; a shutdown waits for them.
#[derive(Debug, Clone)]
pub(crate) struct CleanupTasks {
    runtime: Handle,
    running: TaskTracker,
}

impl CleanupTasks {
    /// Tasks that run on `runtime`.
    pub(crate) fn new(runtime: Handle) -> Self {
        let running = TaskTracker::new();
        // Closed, so that `done` returns as soon as none runs; more can start all the same.
        running.close();
        Self { runtime, running }
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.running.spawn_on(task, &self.runtime);
    }

    /// Returns when none is running.
    pub(crate) async fn done(&self) {
        self.running.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    async fn is_done(tasks: &CleanupTasks) -> bool {
        tokio::select! {
            biased;
            () = tasks.done() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn done_waits_also_for_tasks_that_start_meanwhile() {
        let tasks = CleanupTasks::new(Handle::current());
        assert!(is_done(&tasks).await, "none has started");
        let [(end, ended), (end_later, ended_later)] =
            [oneshot::channel::<()>(), oneshot::channel()];
        tasks.spawn(async { drop(ended.await) });
        let waiting = tokio::spawn({
            let tasks = tasks.clone();
            async move { tasks.done().await }
        });
        tokio::task::yield_now().await;
        tasks.spawn(async { drop(ended_later.await) });
        drop(end);
        tokio::task::yield_now().await;
        assert!(!is_done(&tasks).await, "the second one is running");
        assert!(!waiting.is_finished(), "the second one is running");
        drop(end_later);
        waiting.await.unwrap();
        assert!(is_done(&tasks).await, "both have ended");
    }

    #[tokio::test]
    async fn a_task_whose_runtime_has_ended_is_over() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let tasks = CleanupTasks::new(runtime.handle().clone());
        tasks.spawn(std::future::pending());
        assert!(!is_done(&tasks).await, "it runs for ever");
        runtime.shutdown_background();
        tasks.done().await;
    }
}
