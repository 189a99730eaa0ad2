//! A queue that outlives a failover or a moved slot.

use grackle_test_support::{
    Acquired, RawConnection, TestNamespace, TestRedis, eventually, granted,
};
use tokio::task::JoinHandle;

use super::failover::REPLACED_WITHIN;

/// Waits for the grant, releases it and returns its fencing token.
pub(super) async fn granted_then_released(
    waiter: JoinHandle<Acquired>,
    namespace: &TestNamespace,
    lease: &str,
) -> i64 {
    let token = granted(waiter).await;
    namespace.release(lease).await;
    token
}

/// A holder and the waiters queued behind it through two nodes.
pub(super) struct Queue {
    pub(super) namespace: TestNamespace,
    holder: String,
    waiters: Vec<(JoinHandle<Acquired>, String)>,
}

impl Queue {
    /// So many, on two nodes of their own that do nothing but wait.
    pub(super) async fn form(redis: &TestRedis, namespace: &str, count: usize) -> Self {
        let namespace = TestNamespace::create_as(redis.client().await, namespace, 1).await;
        let nodes =
            [namespace.through(redis.client().await), namespace.through(redis.client().await)];
        let holder = namespace.lease().await;
        namespace.take(&holder, 1).await;
        let mut waiters = Vec::new();
        for node in nodes.iter().cycle().take(count) {
            let lease = namespace.lease().await;
            waiters.push((node.wait(&lease, 1).await, lease));
        }
        Self { namespace, holder, waiters }
    }

    /// Waits until that server reaches so many nodes, and all its waiters are queued there.
    pub(super) async fn is_listening_at(
        &self,
        redis: &TestRedis,
        master: &RawConnection,
        nodes: usize,
    ) {
        let channels = format!("{}:{{{}}}:*", redis.prefix(), self.namespace.namespace);
        eventually("the nodes listen there", REPLACED_WITHIN, async || {
            let ask = ["PUBSUB", "CHANNELS", &channels];
            let received: Vec<String> = master.try_run(&ask).await.ok()?;
            (received.len() == nodes + 1).then_some(())
        })
        .await;
        self.namespace.until_waiting(i64::try_from(self.waiters.len()).unwrap()).await;
    }

    /// Grants one waiter after the other: in the order of arrival, if that is promised.
    pub(super) async fn drain(self, in_order: bool) {
        self.namespace.release(&self.holder).await;
        let namespace = &self.namespace;
        let turns = self.waiters.into_iter().map(|(waiter, lease)| async move {
            granted_then_released(waiter, namespace, &lease).await
        });
        let tokens = futures_util::future::join_all(turns).await;
        assert!(!in_order || tokens.is_sorted(), "not in the order of arrival: {tokens:?}");
        let state = namespace.state().await;
        assert_eq!((state.active_holds, state.waiting_count), (0, 0));
    }
}
