//! What the tests of a lost master share.

use std::time::Duration;

use grackle_client::{Client, ReplicaAcks};
use grackle_test_support::{TestNamespace, TestRedis};

/// A replica takes a dead master's place within that, on a busy machine too.
pub(super) const REPLACED_WITHIN: Duration = Duration::from_secs(30);
/// A dead master is not missed sooner: what was granted by then, it granted.
pub(super) const AT_FIRST: Duration = Duration::from_millis(400);

/// A namespace whose client waits for that many replicas at each grant.
pub(super) async fn acked(redis: &TestRedis, replicas: u32, namespace: &str) -> TestNamespace {
    let mut config = redis.config();
    config.replica_acks = Some(ReplicaAcks::new(replicas, Duration::from_secs(2)));
    TestNamespace::create_as(Client::connect_with(config).await.unwrap(), namespace, 2).await
}
