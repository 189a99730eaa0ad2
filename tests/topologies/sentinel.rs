//! Sentinel: a replica is promoted and the waits go on.

use std::time::Instant;

use grackle_client::wire::AcquireOutcome;
use grackle_test_support::{Sentinels, TestNamespace, TestRedis, Traffic, Turn, eventually};

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};
use super::failover::{AT_FIRST, REPLACED_WITHIN, acked};
use super::queue::Queue;

#[tokio::test]
async fn the_core_suite() {
    let sentinels = Sentinels::start().await;
    let redis = sentinels.redis().await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failover_loses_no_wait_and_no_order() {
    let mut sentinels = Sentinels::start().await;
    let mut redis = sentinels.redis().await;
    let queue = Queue::form(&redis, "queue", 20).await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let nodes = [here.clone(), here.through(redis.client().await)];
    let traffic = Traffic::start(&nodes, 8).await;
    traffic.goes_on(100, REPLACED_WITHIN).await;
    // The leases and the queue, at least: what is under way may be lost.
    sentinels.replicated().await;
    sentinels.first_master().process().kill();
    let lost_until = Instant::now() + AT_FIRST;
    let master = sentinels.next_master().await;
    traffic.goes_on(100, REPLACED_WITHIN).await;
    Turn::check(&traffic.finish().await, Some(lost_until));
    queue.is_listening_at(&redis, &master, 2).await;
    queue.drain(true).await;
    redis.masters_are(vec![master]);
    redis.assert_nothing_left(&here.client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_both_replicas_acked_survives_the_failover() {
    let mut sentinels = Sentinels::start().await;
    let redis = sentinels.redis().await;
    let space = acked(&redis, 2, TestNamespace::NAMESPACE).await;
    let lease = space.lease().await;
    let answer = space.acquire(&lease, 1, 0).await.unwrap();
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(2)));
    sentinels.first_master().process().kill();
    sentinels.next_master().await;
    assert_eq!(space.state().await.active_holds, 1);
    // The one that is left follows the new master: grants go on being counted.
    let lease = space.lease().await;
    eventually("the new master has a replica", REPLACED_WITHIN, async || {
        let answer = space.acquire(&lease, 1, 0).await.ok()?;
        (answer.acked_replicas == Some(1)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn one_silent_sentinel_and_one_dead_one_do_not_keep_a_client_away() {
    let sentinels = Sentinels::start().await;
    let redis = sentinels.redis().await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, dead) = (silent.local_addr().unwrap(), "127.0.0.1:1");
    let url = redis.url().replace("redis+sentinel://", "");
    let url = format!("redis+sentinel://{dead},{silent},{url}");
    let redis = TestRedis::laid_out(url, vec![redis.raw().clone()]).await;
    core_suite(&redis).await;
}
