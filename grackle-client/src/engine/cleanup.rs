//! Work for callers that are gone: what they left behind is put in order. Whoever shuts down waits for it.

use tokio::runtime::Handle;
use tokio::sync::watch;

/// How many are under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errands(watch::Sender<usize>);

/// One that is under way, however it ends.
struct UnderWay(watch::Sender<usize>);

impl Errands {
    pub(crate) fn run(&self, runtime: &Handle, errand: impl Future<Output = ()> + Send + 'static) {
        self.0.send_modify(|count| *count += 1);
        let under_way = UnderWay(self.0.clone());
        runtime.spawn(async move {
            errand.await;
            drop(under_way);
        });
    }

    /// Returns when none is under way.
    pub(crate) async fn done(&self) {
        // It fails where there is no sender; this is one.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    async fn is_done(errands: &Errands) -> bool {
        tokio::select! {
            biased;
            () = errands.done() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn who_waits_for_them_waits_for_those_too_that_begin_meanwhile() {
        let errands = Errands::default();
        assert!(is_done(&errands).await);
        let [(end, ended), (end_later, ended_later)] =
            [oneshot::channel::<()>(), oneshot::channel()];
        errands.run(&Handle::current(), async { drop(ended.await) });
        let waiting = tokio::spawn({
            let errands = errands.clone();
            async move { errands.done().await }
        });
        tokio::task::yield_now().await;
        errands.run(&Handle::current(), async { drop(ended_later.await) });
        drop(end);
        tokio::task::yield_now().await;
        assert!(!is_done(&errands).await && !waiting.is_finished());
        drop(end_later);
        waiting.await.unwrap();
        assert!(is_done(&errands).await);
    }

    #[tokio::test]
    async fn one_that_is_given_up_is_over() {
        let errands = Errands::default();
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        errands.run(runtime.handle(), std::future::pending());
        assert!(!is_done(&errands).await);
        runtime.shutdown_background();
        errands.done().await;
    }
}
