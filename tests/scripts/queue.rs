//! The queue: who is next, what frees permits, and how those who wait are told.

use std::time::Duration;

use grackle_client::scripts::{AcquireArguments, CallState, Outcome};
use grackle_test_support::script_world::{
    DAY, MINUTE, NS, World, granted, now_or_never, told, wanted,
};

#[tokio::test]
async fn waiters_are_admitted_in_the_order_of_their_arrival() {
    // By lease id they would come the other way round.
    let w = World::with(1, "z y x a").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls = ["z", "y", "x"].map(|lease| n.call(lease));
    for call in &calls {
        w.queue(call, 1).await;
    }
    assert_eq!(w.picture().await, "holds a:1, queue z:1 y:1 x:1");
    for (holder, next) in ["a", "z", "y"].into_iter().zip(&calls) {
        w.release(holder).await;
        assert_eq!(n.received().await, [granted(&[next])]);
    }
    assert_eq!(w.picture().await, "holds x:1");
    w.end().await;
}

#[tokio::test]
async fn a_light_newcomer_does_not_pass_a_heavy_waiter() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (heavy, light) = (n.call("b"), n.call("c"));
    w.queue(&heavy, 5).await;
    w.queue(&light, 1).await;
    assert_eq!(w.picture().await, "holds a:3, queue b:5 c:1");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&heavy])]);
    assert_eq!(w.picture().await, "holds b:5, queue c:1");
    w.release("b").await;
    assert_eq!(n.received().await, [granted(&[&light])]);
    w.end().await;
}

#[tokio::test]
async fn an_attempt_that_may_not_wait_does_not_pass_a_waiter() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.queue(&n.call("b"), 5).await;
    let reply = w.ask(&n.call("c"), now_or_never(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    assert_eq!(reply.semaphore.unwrap().waiting_weight, 5);
    assert_eq!(w.picture().await, "holds a:3, queue b:5");
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn a_release_admits_as_many_as_fit_and_tells_each_once() {
    let w = World::with(6, "a b c d e f").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 6).await;
    let calls = ["b", "c", "d", "e", "f"].map(|lease| n.call(lease));
    for (call, weight) in calls.iter().zip([1, 2, 3, 1, 1]) {
        w.queue(call, weight).await;
    }
    let released = w.release("a").await;
    assert_eq!((released.active_holds, released.active_holders_count), (6, 3));
    assert_eq!((released.waiting_count, released.waiting_weight), (2, 2));
    assert_eq!(n.received().await, [0, 1, 2].map(|i| granted(&[&calls[i]])));
    assert_eq!(w.picture().await, "holds b:1 c:2 d:3, queue e:1 f:1");
    w.end().await;
}

#[tokio::test]
async fn a_returned_permit_wakes_exactly_one() {
    let w = World::with(2, "a b").await;
    let mut nodes = Vec::new();
    w.leases("c d e f").await;
    for id in ["m", "n"] {
        nodes.push(w.node(id).await);
    }
    w.take(&nodes[0].call("a"), 1).await;
    w.take(&nodes[0].call("b"), 1).await;
    for (lease, node) in [("c", 1), ("d", 0), ("e", 1), ("f", 0)] {
        w.queue(&nodes[node].call(lease), 1).await;
    }
    w.release("b").await;
    assert_eq!(nodes[0].received().await, Vec::<String>::new());
    assert_eq!(nodes[1].received().await, ["Acquired n:0"]);
    assert_eq!(w.picture().await, "holds a:1 c:1, queue d:1 e:1 f:1");
    w.end().await;
}

#[tokio::test]
async fn the_message_of_a_grant_says_all_that_an_answer_needs() {
    let w = World::with(3, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.queue(&n.call("b"), 2).await;
    w.queue(&n.call("c"), 2).await;
    w.advance(5).await;
    let released = w.release("a").await;
    let answer = n.answer().await;
    assert_eq!(answer.outcome, Outcome::Acquired);
    assert_eq!(answer.fencing_token, w.hold("b").await.fencing_token);
    assert_eq!(answer.semaphore.unwrap(), released);
    assert_eq!((released.active_holds, released.waiting_weight), (2, 2));
    w.end().await;
}

#[tokio::test]
async fn permits_released_while_nobody_fits_go_to_the_head_once_there_are_enough() {
    let w = World::with(3, "a b c d").await;
    let mut n = w.node("n").await;
    for lease in ["a", "b", "c"] {
        w.take(&n.call(lease), 1).await;
    }
    let call = n.call("d");
    w.queue(&call, 3).await;
    for lease in ["b", "a"] {
        w.release(lease).await;
        assert_eq!(n.received().await, [""; 0]);
    }
    w.release("c").await;
    assert_eq!(n.received().await, [granted(&[&call])]);
    assert_eq!(w.picture().await, "holds d:3");
    w.end().await;
}

#[tokio::test]
async fn a_hold_that_shrinks_admits_those_who_now_fit() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (b, c) = (n.call("b"), n.call("c"));
    w.queue(&b, 2).await;
    w.queue(&c, 2).await;
    let reply = w.ask(&n.call("a"), wanted(2)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(reply.semaphore.unwrap(), w.get().await);
    assert_eq!(n.received().await, [granted(&[&b])]);
    assert_eq!(w.picture().await, "holds a:2 b:2, queue c:2");
    w.end().await;
}

#[tokio::test]
async fn raised_permits_admit_at_once() {
    let w = World::with(1, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls = ["b", "c", "d"].map(|lease| n.call(lease));
    for call in &calls {
        w.queue(call, 1).await;
    }
    let updated = w.set_permits(3).await.unwrap();
    assert_eq!((updated.permits, updated.active_holds, updated.waiting_count), (3, 3, 1));
    assert_eq!(n.received().await, [granted(&[&calls[0]]), granted(&[&calls[1]])]);
    w.end().await;
}

#[tokio::test]
async fn lowered_permits_end_the_waits_that_they_can_never_satisfy() {
    let w = World::with(9, "a b c d e").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (b, c, d, e) = (n.call("b"), n.call("c"), n.call("d"), n.call("e"));
    w.queue(&b, 7).await;
    w.queue(&c, 4).await;
    w.queue(&d, 9).await;
    w.queue(&e, 8).await;
    w.park(&e, false, MINUTE).await;
    assert_eq!(w.picture().await, "holds a:3, queue b:7 c:4 d:9, parked e:8");
    let updated = w.set_permits(7).await.unwrap();
    assert_eq!((updated.waiting_count, updated.waiting_weight), (2, 11));
    assert_eq!(
        n.received().await,
        [told("WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits", &[&d])]
    );
    let updated = w.set_permits(6).await.unwrap();
    assert_eq!((updated.active_holds, updated.waiting_count), (3, 1));
    let received = n.received().await;
    assert_eq!(received, [told("WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits", &[&b])]);
    w.set_permits(5).await.unwrap();
    w.set_permits(4).await.unwrap();
    assert_eq!(w.picture().await, "holds a:3, queue c:4");
    let refused = w.set_permits(2).await;
    assert!(matches!(refused, Err(grackle_client::Error::PermitsBelowActiveHolds)), "{refused:?}");
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn lowered_permits_end_parked_waits_too_and_admit_the_next() {
    let w = World::with(9, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (parked, head, light) = (n.call("b"), n.call("c"), n.call("d"));
    w.queue(&parked, 8).await;
    w.park(&parked, false, MINUTE).await;
    w.queue(&head, 9).await;
    w.queue(&light, 4).await;
    w.set_permits(7).await.unwrap();
    let heavy = told("WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits", &[&head]);
    assert_eq!(n.received().await, [heavy, granted(&[&light])]);
    assert_eq!(w.picture().await, "holds a:3 d:4");
    assert_eq!(w.resume(&parked).await, CallState::Unknown);
    let refused = w.ask(&parked, wanted(8)).await;
    assert!(matches!(refused, Err(grackle_client::Error::WeightExceedsPermits)), "{refused:?}");
    w.end().await;
}

#[tokio::test]
async fn a_head_past_its_deadline_is_passed_over() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (head, next) = (n.call("b"), n.call("c"));
    w.queue_with(&head, AcquireArguments { timeout: Duration::from_secs(10), ..wanted(5) }).await;
    w.queue(&next, 2).await;
    w.advance(10).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.time_out(&head).await.unwrap().outcome, Outcome::TimedOut);
    assert_eq!(w.picture().await, "holds c:2");
    w.end().await;
}

#[tokio::test]
async fn a_wait_that_nobody_ends_is_forgotten_a_second_after_its_deadline() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let next = n.call("c");
    w.queue_with(&n.call("b"), AcquireArguments { timeout: Duration::from_secs(10), ..wanted(5) })
        .await;
    w.queue(&next, 2).await;
    w.sweep("n").await;
    w.advance(10).await;
    assert_eq!(w.sweep("n").await.sweep_in, 1_000_000);
    assert_eq!(w.picture().await, "holds a:3, queue b:5 c:2");
    w.advance(1).await;
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds a:3 c:2");
    w.end().await;
}

#[tokio::test]
async fn the_end_of_the_holders_lease_admits_the_next() {
    let w = World::of(1).await;
    w.lease("a", Duration::from_secs(10)).await;
    w.lease("b", DAY).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    assert_eq!(w.queue(&call, 1).await, 10_000_000);
    w.advance(10).await;
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&call])]);
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}

#[tokio::test]
async fn the_end_of_a_waiters_lease_ends_its_wait_and_tells_it() {
    let w = World::with(5, "a c d").await;
    w.lease("b", Duration::from_secs(5)).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (head, next, last) = (n.call("b"), n.call("c"), n.call("d"));
    w.queue(&head, 5).await;
    w.queue(&next, 2).await;
    w.queue(&last, 1).await;
    w.advance(5).await;
    w.sweep("n").await;
    let gone = told("NO_LEASE lease not found", &[&head]);
    assert_eq!(n.received().await, [gone, granted(&[&next])]);
    w.revoke("d").await;
    assert_eq!(n.received().await, [told("NO_LEASE lease not found", &[&last])]);
    assert_eq!(w.picture().await, "holds a:3 c:2");
    w.end().await;
}

#[tokio::test]
async fn nothing_is_granted_under_a_lease_that_has_expired_while_it_waited() {
    let w = World::with(1, "a c").await;
    w.lease("b", Duration::from_secs(5)).await;
    let mut n = w.node("n").await;
    let holder = n.call("a");
    w.take(&holder, 1).await;
    let (head, next) = (n.call("b"), n.call("c"));
    w.queue(&head, 1).await;
    w.queue(&next, 1).await;
    w.advance(5).await;
    // Cancelling sweeps nothing, so that the head's lease still stands there.
    w.cancel(&holder).await;
    let gone = told("NO_LEASE lease not found", &[&head]);
    assert_eq!(n.received().await, [gone, granted(&[&next])]);
    w.end().await;
}

#[tokio::test]
async fn a_retry_of_a_waiting_call_keeps_its_place() {
    let w = World::with(1, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (b, c) = (n.call("b"), n.call("c"));
    w.queue(&b, 1).await;
    w.queue(&c, 1).await;
    w.advance(3).await;
    let before = w.wait("b").await;
    w.queue(&b, 1).await;
    let after = w.wait("b").await;
    assert_eq!(
        (after.score, after.calls.len(), after.queued_at),
        (before.score, 1, before.queued_at)
    );
    assert_eq!(after.calls[0].deadline_at, before.calls[0].deadline_at);
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&b])]);
    w.end().await;
}

#[tokio::test]
async fn a_retry_of_a_call_that_timed_out_begins_at_the_end_of_the_queue() {
    let w = World::with(1, "a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.queue(&n.call("c"), 1).await;
    assert_eq!(w.time_out(&call).await.unwrap().outcome, Outcome::TimedOut);
    let reply = w.ask(&call, now_or_never(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    w.queue(&call, 1).await;
    assert_eq!(w.picture().await, "holds a:1, queue c:1 b:1");
    w.end().await;
}

#[tokio::test]
async fn a_semaphore_has_no_more_waiters_than_its_limit() {
    let limits = {
        let mut limits = grackle_client::Limits::default();
        limits.max_waiters = 2;
        limits
    };
    let w = World::with_limits(limits).await;
    w.semaphore("s", 2).await;
    w.leases("a b c d").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let parked = n.call("b");
    w.queue(&parked, 2).await;
    w.park(&parked, false, MINUTE).await;
    let call = n.call("c");
    w.queue(&call, 2).await;
    let refused = w.ask(&n.call("d"), wanted(2)).await;
    let limit = "limit reached: max_waiters";
    assert_eq!(refused.unwrap_err().to_string(), limit);
    let reply = w.ask(&n.call("d"), now_or_never(2)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    // Another call of a lease that waits is no further waiter.
    w.queue(&n.call("c"), 2).await;
    w.cancel(&parked).await;
    w.queue(&n.call("d"), 2).await;
    w.end().await;
}

#[tokio::test]
async fn waits_on_other_semaphores_and_namespaces_are_not_touched() {
    let w = World::with(1, "a b c").await;
    w.semaphore("t", 1).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    let (on_s, on_t) = (n.call("b"), n.call_on("t", "b"));
    w.queue(&on_s, 1).await;
    w.queue(&on_t, 1).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&on_s])]);
    assert_eq!(w.picture_of("t").await, "holds a:1, queue b:1");
    w.scripts.delete_namespace("other").await.unwrap();
    w.scripts.release(NS, "t", &on_s.lease_id).await.unwrap();
    assert_eq!(w.picture_of("t").await, "holds a:1, queue b:1");
    w.end().await;
}
