//! Work for callers that are gone: what they left behind is put in order. Whoever shuts down waits for it.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::RwLock;

/// Each that is under way holds the lock to read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errands(Arc<RwLock<()>>);

impl Errands {
    pub(crate) fn run(&self, runtime: &Handle, errand: impl Future<Output = ()> + Send + 'static) {
        // None where somebody waits for all of them just now: that one it does not hold up.
        let under_way = Arc::clone(&self.0).try_read_owned().ok();
        runtime.spawn(async move {
            errand.await;
            drop(under_way);
        });
    }

    /// Returns when those that were under way are done.
    pub(crate) async fn done(&self) {
        drop(self.0.write().await);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn who_waits_for_them_waits_until_they_are_done() {
        let errands = Errands::default();
        errands.done().await;
        let (end, ended) = oneshot::channel::<()>();
        errands.run(&Handle::current(), async { drop(ended.await) });
        tokio::select! {
            biased;
            () = errands.done() => panic!("one is under way"),
            () = std::future::ready(()) => {}
        }
        drop(end);
        errands.done().await;
    }
}
