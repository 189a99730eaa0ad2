//! Waits end as they should, soon, on one node and on several.

use std::time::{Duration, Instant};

use grackle_client::wire::{
    AcquireOutcome, ListSemaphoreWaitersRequest, QueueDiscipline, UpdateSemaphoreRequest, Waiter,
};
use grackle_test_support::{LONG, TestNamespace, TestRedis, granted};
use tokio::task::JoinSet;

#[tokio::test]
async fn a_release_on_one_node_admits_the_waiter_of_another() {
    let redis = TestRedis::shared().await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, waiting) = (here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiter = there.wait(&waiting, 1).await;
    here.release(&holder).await;
    granted(waiter).await;
    redis.assert_nothing_left(&here.client).await;
}

#[tokio::test]
async fn grants_follow_arrival_across_nodes_and_weights_and_tokens_rise() {
    let redis = TestRedis::shared().await;
    let here = TestNamespace::create(redis.client().await, 4).await;
    let there = here.through(redis.client().await);
    let holder = here.lease().await;
    here.take(&holder, 4).await;
    let mut waiters = Vec::new();
    for (index, weight) in [1, 4, 2, 3, 1, 1, 4, 1].into_iter().enumerate() {
        let node = if index % 2 == 0 { &here } else { &there };
        let lease = here.lease().await;
        waiters.push((node.wait(&lease, weight).await, lease));
    }
    here.release(&holder).await;
    let mut last = 0;
    for (waiter, lease) in waiters {
        let token = granted(waiter).await;
        assert!(token > last, "{token} came before {last}");
        last = token;
        here.release(&lease).await;
    }
    redis.assert_nothing_left(&here.client).await;
}

/// Its first calls come before it is subscribed, and after a lost connection all are parked at once.
#[tokio::test]
async fn in_a_weighted_queue_a_burst_through_a_new_node_is_one_process_turns() {
    let redis = TestRedis::own().await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let update = UpdateSemaphoreRequest {
        namespace_name: here.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        permits: 1,
        expected_version: 1,
        queue_discipline: QueueDiscipline::Weighted,
        ..Default::default()
    };
    here.client.update_semaphore(update).await.unwrap();
    let holder = here.lease().await;
    here.take(&holder, 1).await;
    let there = here.through(redis.client().await);
    let mut burst = JoinSet::new();
    for _ in 0..20 {
        let (there, lease) = (there.clone(), here.lease_of("crowd", 1_000).await);
        burst.spawn(async move { there.acquire(&lease, 1, LONG).await });
    }
    here.until_waiting(20).await;
    let other = here.wait(&here.lease_of("alone", 1_000).await, 1).await;
    let order = async || {
        let request = ListSemaphoreWaitersRequest {
            namespace_name: here.namespace.clone(),
            semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
            ..Default::default()
        };
        here.client.list_semaphore_waiters(request).await.unwrap().waiters
    };
    let alone =
        |waiters: &[Waiter]| waiters.iter().position(|it| it.process_id == "alone").unwrap();
    let before = order().await;
    assert!(alone(&before) <= 1, "it is next, or after one of the crowd: {before:#?}");
    let _: i64 = redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    here.release(&holder).await;
    here.until_waiting(20).await;
    let now = order().await;
    assert!(now.iter().all(|waiter| !waiter.set_aside), "one is parked: {now:#?}");
    let left: Vec<_> = order().await.into_iter().map(|waiter| waiter.lease_id).collect();
    let granted = before.iter().position(|waiter| !left.contains(&waiter.lease_id)).unwrap();
    let stay = before.iter().enumerate().filter(|(at, _)| *at != granted);
    let right: Vec<_> = stay.map(|(_, waiter)| waiter.lease_id.clone()).collect();
    assert_eq!(left, right, "the turns of before");
    assert!(granted <= 1, "{granted}");
    burst.abort_all();
    other.abort();
    redis.assert_nothing_left(&here.client).await;
}

/// Waits that begin at the very moment of the release, so that the subscription races the message.
#[tokio::test]
async fn a_release_while_the_waiter_just_subscribes_is_not_missed() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (one, other) = (space.lease().await, space.lease().await);
    for _ in 0..300 {
        // A new node each time: it has not subscribed to anything yet.
        let fresh = space.through(redis.client().await);
        space.take(&one, 1).await;
        let (answer, _) = tokio::join!(fresh.acquire(&other, 1, LONG), space.release(&one));
        assert_eq!(answer.unwrap().outcome, AcquireOutcome::Acquired);
        space.release(&other).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_wait_that_races_its_release_ten_thousand_times_is_always_granted() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let there = space.through(redis.client().await);
    let (one, other) = (space.lease().await, space.lease().await);
    for _ in 0..10_000 {
        space.take(&one, 1).await;
        let (answer, _) = tokio::join!(there.acquire(&other, 1, LONG), space.release(&one));
        assert_eq!(answer.unwrap().outcome, AcquireOutcome::Acquired);
        there.release(&other).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_timeout_that_crosses_with_the_grant_is_one_or_the_other_and_loses_no_permit() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (holder, waiting) = (space.lease().await, space.lease().await);
    let mut outcomes = [0, 0];
    for round in 0..20 {
        space.take(&holder, 1).await;
        let late = Duration::from_millis(990 + round);
        let (answer, _) = tokio::join!(space.acquire(&waiting, 1, 1), async {
            tokio::time::sleep(late).await;
            space.release(&holder).await
        });
        let granted = answer.unwrap().outcome == AcquireOutcome::Acquired;
        outcomes[usize::from(granted)] += 1;
        assert_eq!(space.state().await.active_holds, i64::from(granted));
        space.release(&waiting).await;
    }
    assert_eq!(outcomes.iter().sum::<i32>(), 20);
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_crashed_holders_permits_go_on_when_its_lease_ends_though_nobody_asks() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (crashed, waiting) = (space.lease_for(1).await, space.lease().await);
    space.take(&crashed, 1).await;
    let waiter = space.wait(&waiting, 1).await;
    granted(waiter).await;
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_lease_shortened_on_another_node_ends_in_time_for_those_that_wait() {
    let redis = TestRedis::shared().await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, waiting) = (here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiter = there.wait(&waiting, 1).await;
    let request = grackle_client::wire::RefreshSemaphoreLeaseRequest {
        namespace_name: TestNamespace::NAMESPACE.to_owned(),
        lease_id: holder,
        ttl_seconds: 1,
    };
    let began = Instant::now();
    here.client.refresh_semaphore_lease(request).await.unwrap();
    granted(waiter).await;
    // The waiting node sweeps every five seconds anyhow: it must not have come to that.
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    redis.assert_nothing_left(&here.client).await;
}

#[tokio::test]
async fn raised_permits_admit_a_crowd_larger_than_one_script_handles() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let holder = space.lease().await;
    space.take(&holder, 1).await;
    let mut waiters = Vec::new();
    for _ in 0..1_300 {
        let (space, lease) = (space.clone(), space.lease().await);
        waiters.push(tokio::spawn(async move { space.acquire(&lease, 1, LONG).await }));
    }
    space.until_waiting(1_300).await;
    set_permits(&space, 2_000).await;
    for waiter in waiters {
        granted(waiter).await;
    }
    assert_eq!(space.state().await.active_holds, 1_301);
    redis.assert_nothing_left(&space.client).await;
}

/// Each is told by a message that says how many still waited then; the callers that these wake come
/// by in any order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_crowd_that_is_admitted_at_once_the_last_state_is_the_one_that_is_shown() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let load = grackle_client::wire::GetSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
    };
    for round in 0..20 {
        let (holder, mut crowd) = (space.lease().await, Vec::new());
        space.take(&holder, 1).await;
        for _ in 0..4 {
            let lease = space.lease().await;
            crowd.push((lease.clone(), space.wait(&lease, 1).await));
        }
        set_permits(&space, 20).await;
        for (lease, waiter) in crowd {
            granted(waiter).await;
            space.revoke(&lease).await;
        }
        let shown = space.client.semaphore_load(&load).expect("it was seen");
        assert_eq!(shown.waiting_count, 0, "round {round}");
        space.revoke(&holder).await;
        set_permits(&space, 1).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

async fn set_permits(space: &TestNamespace, permits: i64) {
    let request = UpdateSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        permits,
        expected_version: space.state().await.version,
        ..Default::default()
    };
    space.client.update_semaphore(request).await.unwrap();
}

#[tokio::test]
async fn a_client_that_shuts_down_parks_its_waiters_and_another_gets_their_places() {
    let redis = TestRedis::shared().await;
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, first, second) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiter = there.wait(&first, 1).await;
    let behind = here.wait(&second, 1).await;
    there.client.shutdown().await;
    let error = waiter.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), grackle_client::ErrorKind::Unavailable);
    assert_eq!(here.state().await.waiting_count, 1);
    assert!(there.acquire(&first, 1, LONG).await.is_err(), "a closed client does not wait");
    let again = here.wait(&first, 1).await;
    here.release(&holder).await;
    granted(again).await;
    here.release(&first).await;
    granted(behind).await;
    redis.assert_nothing_left(&here.client).await;
}
