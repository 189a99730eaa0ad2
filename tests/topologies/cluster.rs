//! Redis Cluster: slots that move, masters that fail.

use std::time::{Duration, Instant};

use grackle_client::wire::AcquireOutcome;
use grackle_test_support::{
    Cluster, RawConnection, TestNamespace, TestRedis, Traffic, Turn, Watcher, eventually,
};

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};
use super::failover::{AT_FIRST, REPLACED_WITHIN, acked};
use super::queue::Queue;

#[tokio::test]
async fn the_core_suite() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &cluster.masters().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_is_acked_by_the_replica_of_the_namespaces_master() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    for master in 0..3 {
        let namespace = &on_node(&cluster, master).await[0];
        let space = acked(&redis, 1, namespace).await;
        let (holder, next) = (space.lease().await, space.lease().await);
        let answer = space.acquire(&holder, 2, 0).await.unwrap();
        assert_eq!(answer.acked_replicas, Some(1));
        let waiter = space.wait(&next, 1).await;
        space.release(&holder).await;
        assert_eq!(waiter.await.unwrap().unwrap().acked_replicas, Some(1));
        let replica = &cluster.node(master + 3).raw;
        let waits = |info: String| info.contains("cmdstat_wait:");
        assert!(!waits(replica.run(&["INFO", "commandstats"]).await), "asked of the master");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_namespaces_on_all_masters_have_waiters() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    let (mut queues, mut owners) = (Vec::new(), Vec::new());
    for number in 0..30 {
        let namespace = format!("ns-{number}");
        owners.push(cluster.owner(&format!("{{{namespace}}}")).await);
        queues.push(Queue::form(&redis, &namespace, 2).await);
    }
    owners.sort_unstable();
    owners.dedup();
    assert_eq!(owners, [0, 1, 2]);
    let client = queues[0].namespace.client.clone();
    let drained = queues.into_iter().map(|queue| queue.drain(true));
    futures_util::future::join_all(drained).await;
    redis.assert_nothing_left(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failover_loses_no_wait_and_no_order() {
    failover(&[0, 1, 2]).await;
}

/// No server says then that the namespace has moved: the one that is asked next has it.
#[tokio::test(flavor = "multi_thread")]
async fn a_failover_to_a_server_that_the_url_names_loses_no_wait_and_no_order() {
    failover(&[0, 3]).await;
}

async fn failover(seeds: &[usize]) {
    let mut cluster = Cluster::start().await;
    let mut redis = cluster.redis_at(cluster.url_by(seeds)).await;
    let (broken, whole) = (on_node(&cluster, 0).await, on_node(&cluster, 1).await);
    let queue = Queue::form(&redis, &broken[0], 20).await;
    let mut traffics = Vec::new();
    for namespace in [&broken[1], &whole[0]] {
        let here = TestNamespace::create_as(redis.client().await, namespace, 1).await;
        let nodes = [here.clone(), here.through(redis.client().await)];
        traffics.push(Traffic::start(&nodes, 8).await);
    }
    for traffic in &traffics {
        traffic.goes_on(100, REPLACED_WITHIN).await;
    }
    cluster.replicated().await;
    cluster.server(0).process().kill();
    let lost_until = Instant::now() + AT_FIRST;
    cluster.replaced(0).await;
    for traffic in &traffics {
        traffic.goes_on(100, REPLACED_WITHIN).await;
    }
    for (traffic, lost_until) in traffics.into_iter().zip([Some(lost_until), None]) {
        Turn::check(&traffic.finish().await, lost_until);
    }
    queue.is_listening_at(&redis, &cluster.node(3).raw, 2).await;
    let client = queue.namespace.client.clone();
    queue.drain(true).await;
    redis.masters_are(cluster.masters().await);
    redis.assert_nothing_left(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_moves_in_mid_traffic_takes_its_waiters_along() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    let namespace = &on_node(&cluster, 0).await[0];
    let queue = Queue::form(&redis, namespace, 20).await;
    queue.namespace.semaphore("busy", 1).await;
    let nodes = [queue.namespace.clone(), queue.namespace.through(redis.client().await)]
        .map(|space| space.on_semaphore("busy"));
    let traffic = Traffic::start(&nodes, 8).await;
    traffic.goes_on(100, REPLACED_WITHIN).await;
    let slot = cluster.slot(&format!("{{{namespace}}}")).await;
    cluster.begin_to_move(slot, 0, 1).await;
    while cluster.move_keys(slot, 0, 1, 3).await > 0 {
        // Calls come between, to find a namespace that is half here and half there.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cluster.end_to_move(slot, 1).await;
    traffic.goes_on(100, REPLACED_WITHIN).await;
    Turn::check(&traffic.finish().await, None);
    // Those of the traffic listen in the same namespace.
    queue.is_listening_at(&redis, &cluster.node(1).raw, 4).await;
    counts_are_records(&redis, &cluster.node(1).raw, &queue.namespace).await;
    let client = queue.namespace.client.clone();
    queue.drain(true).await;
    redis.assert_nothing_left(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_moves_takes_those_who_watch_along() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    let namespace = &on_node(&cluster, 0).await[0];
    let here = TestNamespace::create_as(redis.client().await, namespace, 5).await;
    let there = here.through(redis.client().await);
    let lease = there.lease().await;
    let mut watcher = Watcher::at(&here);
    watcher.state().await;
    let slot = cluster.slot(&format!("{{{namespace}}}")).await;
    cluster.begin_to_move(slot, 0, 1).await;
    while cluster.move_keys(slot, 0, 1, 100).await > 0 {}
    cluster.end_to_move(slot, 1).await;
    there.take(&lease, 1).await;
    watcher.until(|state| state.active_holds == 1).await;
    // By now it listens at the new master: the rest comes by messages.
    let channel = format!("{}:{{{namespace}}}:watch:{}", redis.prefix(), here.name());
    eventually("the new master is listened to", REPLACED_WITHIN, async || {
        let master = &cluster.node(1).raw;
        let (_, count): (String, i64) = master.run(&["PUBSUB", "NUMSUB", &channel]).await;
        (count == 1).then_some(())
    })
    .await;
    there.release(&lease).await;
    watcher.until(|state| state.active_holds == 0).await;
    drop(watcher);
    redis.assert_nothing_left(&here.client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_lease_holds_fifty_semaphores_and_its_end_frees_all() {
    let cluster = Cluster::start().await;
    let redis = cluster.redis().await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (lease, waiting) = (here.lease().await, here.lease().await);
    let names: Vec<String> = (0..50).map(|number| format!("s-{number}")).collect();
    for name in &names {
        here.semaphore(name, 1).await;
    }
    let all = |space: &TestNamespace, lease: &str, timeout: i64| {
        let (space, lease) = (space.clone(), lease.to_owned());
        futures_util::future::join_all(names.iter().map(move |name| {
            let (space, lease, name) = (space.clone(), lease.clone(), name.clone());
            async move { space.acquire_on(&name, &lease, 1, timeout).await.unwrap().outcome }
        }))
    };
    assert_eq!(all(&here, &lease, 0).await, [AcquireOutcome::Acquired; 50]);
    let waiters = tokio::spawn(all(&there, &waiting, grackle_test_support::LONG));
    for name in &names {
        let what = format!("{name} is waited for");
        eventually(&what, REPLACED_WITHIN, async || {
            (here.state_of(name).await.waiting_count == 1).then_some(())
        })
        .await;
    }
    here.revoke(&lease).await;
    let granted = tokio::time::timeout(REPLACED_WITHIN, waiters).await.unwrap().unwrap();
    assert_eq!(granted, [AcquireOutcome::Acquired; 50]);
    redis.assert_nothing_left(&here.client).await;
}

#[tokio::test]
async fn a_dead_server_in_the_url_does_not_keep_a_client_away() {
    let cluster = Cluster::start().await;
    let url = cluster.url().replace("redis+cluster://", "redis+cluster://127.0.0.1:1,");
    let redis = cluster.redis_at(url).await;
    core_suite(&redis).await;
}

/// Some names of namespaces whose slots that node has.
async fn on_node(cluster: &Cluster, node: usize) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0..100 {
        let name = format!("ns-{number}");
        if cluster.owner(&format!("{{{name}}}")).await == node {
            names.push(name);
        }
    }
    names
}

/// No script broke off half-way: what is counted is there.
async fn counts_are_records(redis: &TestRedis, master: &RawConnection, space: &TestNamespace) {
    for name in [TestNamespace::SEMAPHORE, "busy"] {
        let state = space.state_of(name).await;
        let key = format!("{}:{{{}}}:semaphore:{name}", redis.prefix(), space.namespace);
        let holders: i64 = master.run(&["ZCARD", &format!("{key}:holders")]).await;
        let queue: i64 = master.run(&["ZCARD", &format!("{key}:queue")]).await;
        let weights: i64 = master.run(&["ZCARD", &format!("{key}:weights")]).await;
        assert_eq!((state.active_holds, state.active_holders_count), (holders, holders));
        assert_eq!((state.waiting_count, weights), (queue, queue), "{name}");
    }
}
