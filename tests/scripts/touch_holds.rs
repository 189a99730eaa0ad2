//! Touching holds: does what a call was granted stand on this very server?

use grackle_client::scripts::{Call, CallState};
use grackle_test_support::TestRedis;
use grackle_test_support::script_world::{MINUTE, NS, World, granted};

async fn stand(w: &World, calls: &[&Call]) -> Vec<bool> {
    let connection = w.redis.raw().client().get_multiplexed_async_connection().await.unwrap();
    let before = w.checked().await;
    let stand = w.scripts.touch_holds(connection, NS, calls).await.unwrap();
    assert_eq!(format!("{:?}", w.checked().await), format!("{before:?}"), "it changes something");
    stand
}

#[tokio::test]
async fn a_grant_stands_until_it_is_released() {
    let w = World::with(2, "a b").await;
    let n = w.node("n").await;
    let (a, b, never) = (n.call("a"), n.call("b"), n.call("b"));
    w.take(&a, 1).await;
    w.take(&b, 1).await;
    assert_eq!(stand(&w, &[&a, &never, &b]).await, [true, false, true]);
    w.release("a").await;
    assert_eq!(stand(&w, &[&a, &b]).await, [false, true]);
    w.end().await;
}

#[tokio::test]
async fn a_call_that_still_waits_has_no_grant_and_one_that_was_handed_permits_has() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let b = n.call("b");
    w.queue(&b, 1).await;
    assert_eq!(stand(&w, &[&b]).await, [false]);
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&b])]);
    assert_eq!(stand(&w, &[&b]).await, [true]);
    w.end().await;
}

#[tokio::test]
async fn a_call_that_was_parked_has_no_grant_though_the_other_of_its_lease_has() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (gone, stays) = (n.call("b"), n.call("b"));
    w.queue(&gone, 1).await;
    w.queue(&stays, 1).await;
    w.park(&gone, false, MINUTE).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&stays])]);
    assert_eq!(stand(&w, &[&gone, &stays]).await, [false, true]);
    w.end().await;
}

#[tokio::test]
async fn a_hold_that_a_later_call_changed_is_still_the_earlier_ones() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    let (first, second) = (n.call("a"), n.call("a"));
    w.take(&first, 1).await;
    assert_eq!(stand(&w, &[&first, &second]).await, [true, false]);
    w.take(&second, 3).await;
    assert_eq!(stand(&w, &[&first, &second]).await, [true, true]);
    w.end().await;
}

/// A hand-off goes on there, so what waits for replicas has to as well.
#[tokio::test]
async fn a_grant_stands_on_a_redis_whose_memory_is_full() {
    let redis = TestRedis::own().await;
    let w = World::with_on(&redis, 1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let b = n.call("b");
    w.queue(&b, 1).await;
    let _: () = w.redis.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&b])]);
    assert_eq!(stand(&w, &[&b]).await, [true]);
    let resumed = w.resume(&b).await;
    assert!(matches!(resumed, CallState::Answered(_)), "{resumed:?}");
    let _: () = w.redis.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
    w.end().await;
}
