//! Calls of one lease on one semaphore: one waiter, and each with an end of its own.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, CallState, Outcome};
use grackle_test_support::script_world::{
    MINUTE, World, granted, metadata, now_or_never, told, wanted,
};

#[tokio::test]
async fn two_calls_of_a_lease_on_one_node_are_one_waiter() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (one, other) = (n.call("b"), n.call("b"));
    w.queue(&one, 2).await;
    w.queue(&other, 3).await;
    let waiting = w.get().await;
    assert_eq!((waiting.waiting_count, waiting.waiting_weight), (1, 3));
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&one, &other])]);
    assert_eq!(w.picture().await, "holds b:3");
    let token = w.take(&one, 2).await;
    assert_eq!(w.take(&other, 3).await, token);
    assert_eq!(w.picture().await, "holds b:3");
    w.end().await;
}

#[tokio::test]
async fn two_calls_of_a_lease_on_two_nodes_are_one_waiter() {
    let w = World::with(5, "a b").await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let (one, other) = (m.call("b"), n.call("b"));
    w.queue(&one, 3).await;
    w.queue(&other, 2).await;
    assert_eq!(w.picture().await, "holds a:5, queue b:2");
    w.release("a").await;
    assert_eq!(m.received().await, [granted(&[&one])]);
    assert_eq!(n.received().await, [granted(&[&other])]);
    assert_eq!(w.picture().await, "holds b:2");
    w.end().await;
}

#[tokio::test]
async fn the_later_weight_and_labels_stand_at_the_first_ones_place() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (first, later) = (metadata(&[("job", "1")]), metadata(&[("job", "2")]));
    let one = n.call("b");
    w.queue_with(&one, AcquireArguments { metadata: &first, ..wanted(4) }).await;
    w.queue(&n.call("c"), 5).await;
    let other = n.call("b");
    w.queue_with(&other, AcquireArguments { metadata: &later, ..wanted(1) }).await;
    assert_eq!(w.picture().await, "holds a:5, queue b:1 c:5");
    // Even when the first is asked again.
    w.queue_with(&one, AcquireArguments { metadata: &first, ..wanted(4) }).await;
    assert_eq!(w.picture().await, "holds a:5, queue b:1 c:5");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&one, &other])]);
    let hold = w.hold("b").await;
    assert_eq!((hold.weight, hold.metadata), (1, later));
    w.end().await;
}

#[tokio::test]
async fn a_later_call_too_heavy_for_the_semaphore_changes_nothing() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let one = n.call("b");
    w.queue(&one, 2).await;
    let refused = w.ask(&n.call("b"), wanted(6)).await;
    assert!(matches!(refused, Err(Error::WeightExceedsPermits)), "{refused:?}");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&one])]);
    assert_eq!(w.picture().await, "holds b:2");
    w.end().await;
}

#[tokio::test]
async fn a_later_call_that_may_not_wait_changes_nothing_where_it_does_not_fit() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 4).await;
    w.queue(&n.call("c"), 5).await;
    let waits = n.call("b");
    w.queue(&waits, 3).await;
    for weight in [1, 5] {
        let reply = w.ask(&n.call("b"), now_or_never(weight)).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Unavailable);
    }
    assert_eq!(w.picture().await, "holds a:4, queue c:5 b:3");
    assert_eq!(w.wait("b").await.calls.len(), 1);
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn a_lighter_call_at_the_head_is_granted_for_both_and_admits_the_next() {
    let w = World::with(5, "a b c").await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 3).await;
    let (heavy, next) = (m.call("b"), n.call("c"));
    w.queue(&heavy, 5).await;
    w.queue(&next, 1).await;
    let light = n.call("b");
    let reply = w.ask(&light, wanted(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(m.received().await, [granted(&[&heavy])]);
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds a:3 b:1 c:1");
    w.end().await;
}

#[tokio::test]
async fn each_call_has_its_own_timeout() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let short = n.call("b");
    w.queue_with(&short, AcquireArguments { timeout: Duration::from_secs(5), ..wanted(2) }).await;
    w.queue(&n.call("c"), 5).await;
    let long = n.call("b");
    w.queue(&long, 3).await;
    w.advance(5).await;
    let reply = w.time_out(&short).await.unwrap();
    assert_eq!(reply.outcome, Outcome::TimedOut);
    assert_eq!(reply.semaphore.unwrap().waiting_count, 2);
    assert_eq!(w.picture().await, "holds a:5, queue b:3 c:5");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&long])]);
    w.end().await;
}

#[tokio::test]
async fn each_call_has_its_own_cancellation() {
    let w = World::with(5, "a b c").await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let (one, other, next) = (m.call("b"), n.call("b"), n.call("c"));
    w.queue(&one, 2).await;
    w.queue(&other, 3).await;
    w.queue(&next, 1).await;
    w.cancel(&other).await;
    assert_eq!(w.picture().await, "holds a:5, queue b:3 c:1");
    w.cancel(&one).await;
    assert_eq!(w.picture().await, "holds a:5, queue c:1");
    w.release("a").await;
    assert_eq!(m.received().await, [""; 0]);
    assert_eq!(n.received().await, [granted(&[&next])]);
    w.end().await;
}

#[tokio::test]
async fn a_grant_that_answered_both_ends_only_with_both_cancelled() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (one, other) = (n.call("b"), n.call("b"));
    w.queue(&one, 3).await;
    w.queue(&other, 3).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&one, &other])]);
    w.cancel(&one).await;
    assert_eq!(w.picture().await, "holds b:3");
    w.cancel(&one).await;
    assert_eq!(w.picture().await, "holds b:3");
    w.cancel(&other).await;
    assert_eq!(w.picture().await, "");
    w.end().await;
}

#[tokio::test]
async fn a_call_in_time_gets_the_grant_that_the_other_call_gave_up_before() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (one, other) = (n.call("b"), n.call("b"));
    w.queue(&one, 3).await;
    w.queue(&other, 3).await;
    w.release("a").await;
    // The message and the timeouts cross.
    assert_eq!(w.time_out(&one).await.unwrap().outcome, Outcome::Acquired);
    assert_eq!(w.time_out(&other).await.unwrap().outcome, Outcome::Acquired);
    assert_eq!(w.picture().await, "holds b:3");
    assert_eq!(n.received().await.len(), 1);
    w.end().await;
}

#[tokio::test]
async fn the_end_of_the_lease_tells_every_call_of_the_waiter() {
    let w = World::with(5, "a b").await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let calls = [m.call("b"), n.call("b"), m.call("b")];
    for call in &calls {
        w.queue(call, 1).await;
    }
    w.revoke("b").await;
    let gone = "NO_LEASE lease not found";
    assert_eq!(m.received().await, [told(gone, &[&calls[0], &calls[2]])]);
    assert_eq!(n.received().await, [told(gone, &[&calls[1]])]);
    assert_eq!(w.picture().await, "holds a:5");
    w.end().await;
}

#[tokio::test]
async fn the_death_of_one_of_two_nodes_leaves_the_waiter_in_the_queue() {
    let w = World::with(5, "a b c").await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let (lost, received, next) = (m.call("b"), n.call("b"), n.call("c"));
    w.queue(&lost, 3).await;
    w.queue(&received, 3).await;
    w.queue(&next, 5).await;
    m.dies().await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&received])]);
    assert_eq!(w.picture().await, "holds b:3, queue c:5");
    m.returns().await;
    let CallState::Answered(reply) = w.resume(&lost).await else { panic!("no answer") };
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(reply.fencing_token, w.hold("b").await.fencing_token);
    w.end().await;
}

#[tokio::test]
async fn a_call_that_was_parked_when_the_other_was_granted_does_not_keep_the_hold() {
    let w = World::with(5, "a b").await;
    let (m, n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let (parked, granted) = (m.call("b"), n.call("b"));
    w.queue(&parked, 3).await;
    w.park(&parked, false, MINUTE).await;
    w.queue(&granted, 3).await;
    w.release("a").await;
    assert_eq!(w.picture().await, "holds b:3");
    w.cancel(&granted).await;
    // It waits again, at its old place.
    assert_eq!(w.picture().await, "parked b:3");
    let found = w.resume(&parked).await;
    assert!(matches!(found, CallState::Answered(_)), "{found:?}");
    assert_eq!(w.picture().await, "holds b:3");
    w.end().await;
}

#[tokio::test]
async fn a_call_whose_grant_a_later_call_has_changed_was_granted_all_the_same() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (one, other) = (n.call("b"), n.call("b"));
    w.queue(&one, 1).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&one])]);
    let token = w.take(&other, 5).await;
    assert_eq!(w.time_out(&one).await.unwrap().outcome, Outcome::Acquired);
    let CallState::Answered(reply) = w.resume(&one).await else { panic!("no answer") };
    assert_eq!(reply.fencing_token, token);
    assert_eq!(w.take(&one, 1).await, token);
    assert_eq!(w.picture().await, "holds b:5");
    w.end().await;
}

#[tokio::test]
async fn a_waiter_has_no_more_calls_than_64_that_are_not_over() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls: Vec<_> = (0..64).map(|_| n.call("b")).collect();
    for (index, call) in calls.iter().enumerate() {
        let timeout = Duration::from_secs(if index < 2 { 5 } else { 60 });
        w.queue_with(call, AcquireArguments { timeout, ..wanted(1) }).await;
    }
    let more = n.call("b");
    let refused = w.ask(&more, wanted(1)).await.unwrap_err();
    assert_eq!(refused.to_string(), "limit reached: max_calls_per_wait");
    w.queue(&calls[7], 1).await;
    w.advance(6).await;
    w.queue(&more, 1).await;
    assert_eq!(w.wait("b").await.calls.len(), 63);
    w.release("a").await;
    let right: Vec<_> = calls[2..].iter().chain([&more]).collect();
    assert_eq!(n.received().await, [granted(&right)]);
    w.end().await;
}
