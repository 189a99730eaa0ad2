//! What a caller needs on every layout of Redis, shown through two nodes.

use std::time::{Duration, Instant};

use grackle_client::wire::{AcquireOutcome, DownSemaphoreRequest, UpSemaphoreRequest};
use grackle_test_support::{RawConnection, TestNamespace, TestRedis, Watcher, granted};

use super::queue::granted_then_released;

/// All that a caller needs, on two nodes; nothing is left at the end.
pub(super) async fn core_suite(redis: &TestRedis) {
    let here = TestNamespace::create(redis.client().await, 2).await;
    let there = here.through(redis.client().await);
    a_release_hands_on(&here, &there).await;
    a_wait_times_out(&there).await;
    an_expired_lease_hands_on(&here, &there).await;
    a_dropped_call_leaves_the_queue(&here, &there).await;
    a_watch_sees_what_another_node_does(&here, &there).await;
    an_up_wakes_a_down(&here, &there).await;
    redis.assert_nothing_left(&here.client).await;
}

async fn a_release_hands_on(here: &TestNamespace, there: &TestNamespace) {
    let holder = here.lease().await;
    here.take(&holder, 2).await;
    let mut waiters = Vec::new();
    for node in [there, here, there, here] {
        let lease = node.lease().await;
        waiters.push((node.wait(&lease, 2).await, lease));
    }
    here.release(&holder).await;
    let mut last = 0;
    for (waiter, lease) in waiters {
        let token = granted(waiter).await;
        assert!(token > last, "{token} after {last}");
        last = token;
        there.release(&lease).await;
    }
    let state = here.state().await;
    assert_eq!((state.active_holds, state.waiting_count), (0, 0));
}

async fn a_wait_times_out(node: &TestNamespace) {
    let (holder, waiting) = (node.lease().await, node.lease().await);
    node.take(&holder, 1).await;
    let began = Instant::now();
    let answer = node.acquire(&waiting, 2, 1).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::TimedOut);
    let found = began.elapsed();
    assert!(found >= Duration::from_secs(1), "{found:?}");
    let answer = node.acquire(&waiting, 2, 0).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::Unavailable);
    node.release(&holder).await;
}

async fn an_expired_lease_hands_on(here: &TestNamespace, there: &TestNamespace) {
    let (crashed, waiting) = (here.lease_for(1).await, there.lease().await);
    here.take(&crashed, 2).await;
    granted(there.wait(&waiting, 1).await).await;
    there.release(&waiting).await;
}

async fn a_dropped_call_leaves_the_queue(here: &TestNamespace, there: &TestNamespace) {
    let (holder, dropped, next) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let call = there.wait(&dropped, 2).await;
    let behind = here.wait(&next, 1).await;
    call.abort();
    granted(behind).await;
    here.release(&holder).await;
    here.release(&next).await;
}

async fn a_watch_sees_what_another_node_does(here: &TestNamespace, there: &TestNamespace) {
    let mut watcher = Watcher::at(here);
    assert_eq!(watcher.state().await.active_holds, 0);
    let lease = there.lease().await;
    there.take(&lease, 2).await;
    watcher.until(|state| state.active_holds == 2).await;
    there.revoke(&lease).await;
    watcher.until(|state| state.active_holds == 0).await;
}

async fn an_up_wakes_a_down(here: &TestNamespace, there: &TestNamespace) {
    let down = |timeout_seconds| DownSemaphoreRequest {
        namespace_name: here.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        timeout_seconds,
    };
    let up = async || {
        let request = UpSemaphoreRequest {
            namespace_name: here.namespace.clone(),
            semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        };
        here.client.up_semaphore(request).await.unwrap().semaphore
    };
    for _ in 0..2 {
        let answer = there.client.down_semaphore(down(0)).await.unwrap();
        assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    }
    let (client, waits) = (there.client.clone(), down(60));
    let waiting = tokio::spawn(async move { client.down_semaphore(waits).await });
    here.until_waiting(1).await;
    assert_eq!(up().await.active_holds, 2, "handed on");
    assert_eq!(waiting.await.unwrap().unwrap().outcome, AcquireOutcome::Acquired);
    up().await;
    let last = up().await;
    assert_eq!((last.permits, last.active_holds), (2, 0));
}

/// Subscriptions end, and the waits go on.
pub(super) async fn dropped_subscriptions_are_made_again(
    redis: &TestRedis,
    masters: &[RawConnection],
) {
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, first, second) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiters = [there.wait(&first, 1).await, here.wait(&second, 1).await];
    for master in masters {
        let _: i64 = master.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    }
    here.release(&holder).await;
    let [one, other] = waiters;
    // Whichever is back first: order is promised among those that listen.
    let (one, other) =
        tokio::join!(async { granted_then_released(one, &here, &first).await }, async {
            granted_then_released(other, &here, &second).await
        },);
    assert_ne!(one, other);
    redis.assert_nothing_left(&here.client).await;
}
