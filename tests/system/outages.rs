//! Redis restarts, forgets its scripts, drops connections: waits go on, and nobody is told.

use std::time::Duration;

use grackle_client::wire::{AcquireOutcome, CreateSemaphoreRequest};
use grackle_test_support::{LONG, Link, TestNamespace, TestRedis, eventually, granted};
use tokio::task::JoinHandle;

const WAITERS: usize = 100;

/// A holder, and a hundred that wait behind it through two nodes, each to release in its turn.
struct Crowd {
    space: TestNamespace,
    holder: String,
    waiters: Vec<JoinHandle<i64>>,
}

impl Crowd {
    async fn gather(redis: &TestRedis) -> Self {
        let space = TestNamespace::create(redis.client().await, 1).await;
        let nodes = [space.clone(), space.through(redis.client().await)];
        let holder = space.lease().await;
        space.take(&holder, 1).await;
        let mut waiters = Vec::new();
        for index in 0..WAITERS {
            let (node, lease) = (nodes[index % 2].clone(), space.lease().await);
            waiters.push(tokio::spawn(async move {
                let answer = node.acquire(&lease, 1, LONG).await.expect("no error");
                assert_eq!(answer.outcome, AcquireOutcome::Acquired);
                node.release(&lease).await;
                answer.fencing_token
            }));
            space.until_waiting(i64::try_from(index).unwrap() + 1).await;
        }
        Self { space, holder, waiters }
    }

    /// Lets the first in; each lets the next in. The tokens of all, by arrival.
    async fn drains(self, redis: &TestRedis) -> Vec<i64> {
        self.space.release(&self.holder).await;
        let mut tokens = Vec::new();
        for waiter in self.waiters {
            let token = tokio::time::timeout(Duration::from_secs(30), waiter);
            tokens.push(token.await.expect("an answer in time").unwrap());
        }
        redis.assert_nothing_left(&self.space.client).await;
        tokens
    }

    /// Order is promised among waiters whose nodes listen: until then a node is passed over.
    async fn drains_in_order(self, redis: &TestRedis) {
        let channels = format!("{}:*", redis.prefix());
        eventually("both nodes listen again", Duration::from_secs(10), async || {
            let received: Vec<String> = redis.run(&["PUBSUB", "CHANNELS", &channels]).await;
            (received.len() == 3).then_some(())
        })
        .await;
        self.space.until_waiting(100).await;
        let tokens = self.drains(redis).await;
        assert!(tokens.is_sorted(), "not in the order of arrival: {tokens:?}");
    }
}

#[tokio::test]
async fn forgotten_scripts_are_loaded_again_while_a_hundred_wait() {
    let redis = TestRedis::own().await;
    let crowd = Crowd::gather(&redis).await;
    let _: () = redis.run(&["SCRIPT", "FLUSH"]).await;
    crowd.drains_in_order(&redis).await;
}

#[tokio::test]
async fn dropped_subscriptions_are_made_again_while_a_hundred_wait() {
    let redis = TestRedis::own().await;
    let crowd = Crowd::gather(&redis).await;
    let killed: i64 = redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    assert_eq!(killed, 2);
    crowd.drains_in_order(&redis).await;
}

#[tokio::test]
async fn subscriptions_dropped_all_the_time_delay_the_hundred_but_lose_none() {
    let redis = TestRedis::own().await;
    let crowd = Crowd::gather(&redis).await;
    let raw = redis.raw().clone();
    let nuisance = tokio::spawn(async move {
        loop {
            let _: i64 = raw.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    // A node that does not listen at the moment is passed over: their order is open.
    assert_eq!(crowd.drains(&redis).await.len(), WAITERS);
    nuisance.abort();
}

#[tokio::test]
async fn dropped_command_connections_are_made_again_while_a_hundred_wait() {
    let redis = TestRedis::own().await;
    let crowd = Crowd::gather(&redis).await;
    let _: i64 = redis.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await;
    crowd.drains_in_order(&redis).await;
}

#[tokio::test]
async fn a_restart_with_its_append_only_file_keeps_a_hundred_waiting_in_order() {
    let mut redis = TestRedis::own_with(&["--appendonly", "yes"]).await;
    let crowd = Crowd::gather(&redis).await;
    redis.restart().await;
    crowd.drains_in_order(&redis).await;
}

#[tokio::test]
async fn a_kill_with_its_append_only_file_keeps_a_hundred_waiting_in_order() {
    let mut redis = TestRedis::own_with(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    let crowd = Crowd::gather(&redis).await;
    redis.kill();
    redis.start_again().await;
    crowd.drains_in_order(&redis).await;
}

#[tokio::test]
async fn a_call_made_while_redis_is_away_is_answered_when_it_is_back() {
    let mut redis = TestRedis::own_with(&["--appendonly", "yes"]).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let lease = space.lease().await;
    redis.kill();
    let (call, id) = (space.clone(), lease.clone());
    let call = tokio::spawn(async move { call.acquire(&id, 1, LONG).await });
    redis.start_again().await;
    granted(call).await;
    assert_eq!(space.state().await.active_holders_count, 1);
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_redis_that_stays_away_is_said_to_be_so() {
    let mut redis = TestRedis::own().await;
    let mut config = redis.config();
    config.retry_for = Duration::from_millis(300);
    let client = grackle_client::Client::connect_with(config).await.unwrap();
    let space = TestNamespace::create(client, 1).await;
    let lease = space.lease().await;
    redis.kill();
    let error = space.acquire(&lease, 1, 0).await.unwrap_err();
    assert_eq!(error.kind(), grackle_client::ErrorKind::Unavailable);
    assert!(error.to_string().contains("no answer from Redis"), "{error}");
}

#[tokio::test]
async fn a_full_memory_refuses_what_is_new_and_nothing_that_gives_back_or_stays_alive() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (holder, newcomer, idle) = (space.lease().await, space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let waiting = space.lease().await;
    let waiter = space.wait(&waiting, 1).await;
    let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let another = CreateSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: "another".to_owned(),
        permits: 1,
        ..Default::default()
    };
    let refused = space.client.create_semaphore(another).await.unwrap_err();
    assert_eq!(refused.kind(), grackle_client::ErrorKind::ResourceExhausted);
    let refused = space.acquire(&newcomer, 1, LONG).await.unwrap_err();
    assert_eq!(refused.kind(), grackle_client::ErrorKind::ResourceExhausted);
    assert!(refused.to_string().contains("maxmemory"), "{refused}");
    let refresh = grackle_client::wire::RefreshSemaphoreLeaseRequest {
        namespace_name: space.namespace.clone(),
        lease_id: holder.clone(),
        ttl_seconds: LONG,
    };
    space.client.refresh_semaphore_lease(refresh).await.unwrap();
    space.revoke(&idle).await;
    space.release(&holder).await;
    granted(waiter).await;
    space.revoke(&waiting).await;
    assert_eq!(space.state().await.active_holds, 0);
    let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
    redis.assert_nothing_left(&space.client).await;
}

/// The reply is lost after the script ran: the same call again finds its own grant.
#[tokio::test]
async fn a_reply_lost_after_the_grant_leaves_one_hold() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let link = Link::to(&redis).await;
    let mut config = redis.config();
    config.redis_url = link.url();
    let far = space.through(grackle_client::Client::connect_with(config).await.unwrap());
    for round in 1..=20 {
        let lease = space.lease().await;
        let before = redis.command_calls().await.of("evalsha");
        link.hold_replies();
        let (call, id) = (far.clone(), lease.clone());
        let call = tokio::spawn(async move { call.acquire(&id, 2, LONG).await });
        eventually("the script has run", Duration::from_secs(5), async || {
            (redis.command_calls().await.of("evalsha") > before).then_some(())
        })
        .await;
        link.cut();
        link.recover();
        granted(call).await;
        let state = space.state().await;
        assert_eq!((state.active_holds, state.active_holders_count), (2, 1), "round {round}");
        assert_eq!(far.release(&lease).await.active_holds, 0);
    }
    redis.assert_nothing_left(&space.client).await;
}
