//! A dropped acquire leaves nothing behind, wherever it was dropped.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use grackle_test_support::{LONG, TestNamespace, TestRedis, eventually, granted};

const SOON: Duration = Duration::from_secs(5);

/// Polls a future so often, letting the runtime work in between, then drops it. True where it had
/// not answered by then.
async fn drop_after<F: Future>(polls: usize, future: F) -> bool {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if polled.is_ready() {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

/// Nothing is held but so much, and nobody waits.
async fn settles_at(space: &TestNamespace, holds: i64) {
    eventually("the dropped call is taken back", SOON, async || {
        let state = space.state().await;
        (state.active_holds == holds && state.waiting_count == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn dropped_at_any_poll_an_acquire_of_free_permits_holds_nothing() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let mut dropped = 0;
    for timeout in [0, LONG] {
        for polls in 0..200 {
            let lease = space.lease().await;
            if drop_after(polls, space.acquire(&lease, 2, timeout)).await {
                dropped += 1;
            } else {
                assert_eq!(space.release(&lease).await.active_holds, 0);
            }
            settles_at(&space, 0).await;
        }
    }
    assert!(dropped > 10, "only {dropped} were dropped half-way");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn dropped_at_any_poll_a_waiter_leaves_the_queue() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let holder = space.lease().await;
    space.take(&holder, 1).await;
    for polls in (0..100).chain([300, 1_000]) {
        let lease = space.lease().await;
        let pending = drop_after(polls, space.acquire(&lease, 1, LONG)).await;
        assert!(pending, "the acquire ended within {polls} polls");
        settles_at(&space, 1).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_grant_that_crosses_with_the_drop_goes_to_the_next_in_line() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let mut holder = space.lease().await;
    space.take(&holder, 1).await;
    for _ in 0..200 {
        let (crossing, next) = (space.lease().await, space.lease().await);
        let first = space.wait(&crossing, 1).await;
        let second = space.wait(&next, 1).await;
        let (_, ()) = tokio::join!(space.release(&holder), async { first.abort() });
        if let Ok(answer) = first.await {
            // It was quicker than the drop.
            assert!(answer.is_ok(), "{answer:?}");
            space.release(&crossing).await;
        }
        granted(second).await;
        holder = next;
        settles_at(&space, 1).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_dropped_growth_leaves_the_hold_as_it_was() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let (growing, other) = (space.lease().await, space.lease().await);
    space.take(&growing, 2).await;
    space.take(&other, 2).await;
    for _ in 0..50 {
        let waiter = space.wait(&growing, 4).await;
        let (_, ()) = tokio::join!(space.release(&other), async { waiter.abort() });
        let crossed = waiter.await.is_ok();
        let held = if crossed { 4 } else { 2 };
        settles_at(&space, held).await;
        space.take(&growing, 2).await;
        space.take(&other, 2).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn one_of_two_calls_of_a_lease_is_dropped_and_the_other_goes_on() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let elsewhere = space.through(redis.client().await);
    let (holder, lease) = (space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let here = space.wait(&lease, 1).await;
    let (there, id) = (elsewhere.clone(), lease.clone());
    let there = tokio::spawn(async move { there.acquire(&id, 1, LONG).await });
    // The second call joins the first's wait: the queue does not show when.
    eventually("both calls wait", SOON, async || {
        let key = format!("{}:{{ns}}:lease:{lease}", redis.prefix());
        let wait: Option<String> = redis.run(&["HGET", &key, "wait:s"]).await;
        (wait?.matches("\"ticket\"").count() == 2).then_some(())
    })
    .await;
    here.abort();
    let _ = here.await;
    space.release(&holder).await;
    granted(there).await;
    assert_eq!(space.state().await.active_holds, 1);
    redis.assert_nothing_left(&space.client).await;
}
