//! Holds that grow: ahead of the queue, in turn among themselves, and never less than they were.

use std::time::Duration;

use grackle_client::scripts::{AcquireArguments, CallState, Outcome};
use grackle_test_support::script_world::{
    MINUTE, World, granted, metadata, now_or_never, told, wanted,
};

#[tokio::test]
async fn a_hold_that_grows_takes_what_is_free_ahead_of_the_queue() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.take(&n.call("b"), 1).await;
    w.queue(&n.call("c"), 5).await;
    w.take(&n.call("a"), 4).await;
    assert_eq!(w.picture().await, "holds a:4 b:1, queue c:5");
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn a_hold_that_has_to_wait_to_grow_stands_before_all_who_hold_nothing() {
    let w = World::with(3, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 2).await;
    let (waits, grows) = (n.call("c"), n.call("a"));
    w.queue(&waits, 1).await;
    w.queue(&grows, 3).await;
    assert_eq!(w.picture().await, "holds a:1 b:2, queue a:3 c:1");
    w.release("b").await;
    assert_eq!(n.received().await, [granted(&[&grows])]);
    assert_eq!(w.picture().await, "holds a:3, queue c:1");
    w.end().await;
}

#[tokio::test]
async fn holds_that_grow_take_turns_by_arrival() {
    let w = World::with(4, "z y a b").await;
    let mut n = w.node("n").await;
    for lease in ["z", "y", "a"] {
        w.take(&n.call(lease), 1).await;
    }
    w.queue(&n.call("b"), 2).await;
    let (z, y) = (n.call("z"), n.call("y"));
    w.queue(&z, 3).await;
    w.queue(&y, 3).await;
    // One permit is free; the light growth behind those two has to wait for its turn too.
    let reply = w.ask(&n.call("a"), now_or_never(2)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    let a = n.call("a");
    w.queue(&a, 2).await;
    assert_eq!(w.picture().await, "holds a:1 y:1 z:1, queue z:3 y:3 a:2 b:2");
    w.time_out(&a).await.unwrap();
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&z])]);
    assert_eq!(w.picture().await, "holds y:1 z:3, queue y:3 b:2");
    w.release("z").await;
    assert_eq!(n.received().await, [granted(&[&y])]);
    w.end().await;
}

#[tokio::test]
async fn the_old_hold_stays_as_it_is_until_growth_is_granted() {
    let w = World::with(3, "a b").await;
    let mut n = w.node("n").await;
    let (old, new) = (metadata(&[("job", "old")]), metadata(&[("job", "new")]));
    let token =
        w.ask(&n.call("a"), AcquireArguments { metadata: &old, ..wanted(1) }).await.unwrap();
    w.take(&n.call("b"), 2).await;
    w.advance(1).await;
    let before = w.hold("a").await;
    let grows = n.call("a");
    w.queue_with(&grows, AcquireArguments { metadata: &new, ..wanted(2) }).await;
    let during = w.hold("a").await;
    assert_eq!((during.weight, &during.metadata), (1, &old));
    assert_eq!((during.locked_at, during.fencing_token), (before.locked_at, token.fencing_token));
    w.advance(1).await;
    w.release("b").await;
    assert_eq!(n.received().await, [granted(&[&grows])]);
    let after = w.hold("a").await;
    assert_eq!((after.weight, &after.metadata), (2, &new));
    assert_eq!(after.locked_at, w.clock.now().await);
    assert_eq!(after.fencing_token, token.fencing_token);
    w.end().await;
}

#[tokio::test]
async fn growth_that_ends_without_a_grant_leaves_the_hold_alone() {
    let w = World::with(3, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    let before = w.hold("a").await;
    let (timed_out, cancelled, heavy) = (n.call("a"), n.call("a"), n.call("a"));
    w.queue(&timed_out, 3).await;
    let reply = w.time_out(&timed_out).await.unwrap();
    assert_eq!(reply.outcome, Outcome::TimedOut);
    w.queue(&cancelled, 3).await;
    w.cancel(&cancelled).await;
    w.queue(&heavy, 3).await;
    w.set_permits(2).await.unwrap();
    assert_eq!(
        n.received().await,
        [told("WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits", &[&heavy])]
    );
    let after = w.hold("a").await;
    assert_eq!((after.weight, after.locked_at), (1, before.locked_at));
    assert_eq!(w.picture().await, "holds a:1 b:1");
    w.end().await;
}

#[tokio::test]
async fn the_head_that_grows_holds_back_all_others_and_frees_them_when_it_gives_up() {
    let w = World::with(4, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 2).await;
    let (grows, waits) = (n.call("a"), n.call("c"));
    w.queue(&grows, 3).await;
    w.queue(&waits, 1).await;
    let reply = w.time_out(&grows).await.unwrap();
    assert_eq!(reply.outcome, Outcome::TimedOut);
    assert_eq!(reply.semaphore.unwrap().active_holds, 4);
    assert_eq!(n.received().await, [granted(&[&waits])]);
    w.end().await;
}

#[tokio::test]
async fn a_lease_that_releases_while_it_grows_waits_where_it_arrived() {
    let w = World::with(2, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    let (before, grows, behind) = (n.call("c"), n.call("a"), n.call("d"));
    w.queue(&before, 2).await;
    w.queue(&grows, 2).await;
    w.queue(&behind, 1).await;
    assert_eq!(w.picture().await, "holds a:1 b:1, queue a:2 c:2 d:1");
    let released = w.release("a").await;
    assert_eq!((released.active_holds, released.waiting_weight), (1, 5));
    assert_eq!(w.picture().await, "holds b:1, queue c:2 a:2 d:1");
    w.release("b").await;
    w.release("c").await;
    assert_eq!(n.received().await, [granted(&[&before]), granted(&[&grows])]);
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_grant_leaves_the_growth_behind_it_waiting_where_it_arrived() {
    let w = World::with(2, "a b c").await;
    let mut n = w.node("n").await;
    let fresh = n.call("a");
    w.take(&fresh, 1).await;
    w.take(&n.call("b"), 1).await;
    let (before, grows) = (n.call("c"), n.call("a"));
    w.queue(&before, 1).await;
    w.queue(&grows, 2).await;
    w.cancel(&fresh).await;
    assert_eq!(n.received().await, [granted(&[&before])]);
    assert_eq!(w.picture().await, "holds b:1 c:1, queue a:2");
    w.end().await;
}

#[tokio::test]
async fn a_grant_parked_leaves_its_older_place_to_the_growth_behind_it() {
    let w = World::with(2, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("d"), 2).await;
    let (crossed, before) = (n.call("a"), n.call("c"));
    w.queue(&crossed, 1).await;
    w.queue(&before, 2).await;
    w.take(&n.call("d"), 1).await;
    assert_eq!(n.received().await, [granted(&[&crossed])]);
    let grows = n.call("a");
    w.queue(&grows, 2).await;
    assert_eq!(w.picture().await, "holds a:1 d:1, queue a:2 c:2");
    assert_eq!(w.park(&crossed, true, MINUTE).await, CallState::Waiting);
    assert_eq!(w.picture().await, "holds d:1, queue a:2 c:2");
    w.release("d").await;
    assert_eq!(n.received().await, [granted(&[&grows])]);
    w.end().await;
}

#[tokio::test]
async fn a_growth_parked_comes_back_ahead_of_the_queue() {
    let w = World::with(3, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    let (grows, waits) = (n.call("a"), n.call("c"));
    w.queue(&grows, 3).await;
    w.queue(&waits, 2).await;
    w.park(&grows, false, MINUTE).await;
    assert_eq!(w.picture().await, "holds a:1 b:1, queue c:2, parked a:3");
    w.resume(&grows).await;
    assert_eq!(w.picture().await, "holds a:1 b:1, queue a:3 c:2");
    w.release("b").await;
    assert_eq!(n.received().await, [granted(&[&grows])]);
    w.end().await;
}

#[tokio::test]
async fn less_weight_while_it_grows_ends_the_growth_and_admits_those_behind() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.take(&n.call("b"), 2).await;
    let (grows, waits) = (n.call("a"), n.call("c"));
    w.queue(&grows, 5).await;
    w.queue(&waits, 1).await;
    w.take(&n.call("a"), 2).await;
    assert_eq!(n.received().await, [granted(&[&grows]), granted(&[&waits])]);
    assert_eq!(w.picture().await, "holds a:2 b:2 c:1");
    w.end().await;
}

#[tokio::test]
async fn a_lease_that_ends_while_it_grows_frees_its_hold_and_its_place() {
    let w = World::with(3, "b c").await;
    w.lease("a", Duration::from_secs(5)).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    let (grows, waits) = (n.call("a"), n.call("c"));
    w.queue(&grows, 3).await;
    w.queue(&waits, 2).await;
    w.advance(5).await;
    w.sweep("n").await;
    assert_eq!(
        n.received().await,
        [told("NO_LEASE lease not found", &[&grows]), granted(&[&waits])]
    );
    assert_eq!(w.picture().await, "holds b:1 c:2");
    w.end().await;
}

#[tokio::test]
async fn a_hold_may_not_grow_past_the_limit_of_waiters() {
    let mut limits = grackle_client::Limits::default();
    limits.max_waiters = 1;
    let w = World::with_limits(limits).await;
    w.semaphore("s", 2).await;
    w.leases("a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    w.queue(&n.call("c"), 1).await;
    let refused = w.ask(&n.call("a"), wanted(2)).await.unwrap_err();
    assert_eq!(refused.to_string(), "limit reached: max_waiters");
    assert_eq!(w.picture().await, "holds a:1 b:1, queue c:1");
    w.end().await;
}
