//! Places kept for those who do not listen: parked on purpose, or because the node is not subscribed; and taken back.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, AcquireReply, CallState, Outcome};
use grackle_test_support::script_world::{MINUTE, NS, World, granted, now_or_never, wanted};

fn answered(resumed: CallState) -> AcquireReply {
    match resumed {
        CallState::Answered(reply) => reply,
        other => panic!("no answer but {other:?}"),
    }
}

#[tokio::test]
async fn a_call_parked_is_passed_over_and_comes_back_to_its_place() {
    let w = World::with(5, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (first, second, third) = (n.call("b"), n.call("c"), n.call("d"));
    w.queue(&first, 5).await;
    w.queue(&second, 5).await;
    w.queue(&third, 1).await;
    assert_eq!(w.park(&first, false, MINUTE).await, CallState::Waiting);
    assert_eq!(w.picture().await, "holds a:3, queue c:5 d:1, parked b:5");
    let waiting = w.get().await;
    assert_eq!((waiting.waiting_count, waiting.waiting_weight), (2, 6));
    w.park(&second, false, MINUTE).await;
    assert_eq!(n.received().await, [granted(&[&third])]);
    assert_eq!(w.picture().await, "holds a:3 d:1, parked b:5 c:5");
    assert_eq!(w.resume(&second).await, CallState::Waiting);
    assert_eq!(w.resume(&first).await, CallState::Waiting);
    assert_eq!(w.picture().await, "holds a:3 d:1, queue b:5 c:5");
    w.release("a").await;
    w.release("d").await;
    assert_eq!(n.received().await, [granted(&[&first])]);
    w.end().await;
}

#[tokio::test]
async fn a_call_of_a_node_not_yet_subscribed_is_parked_and_keeps_its_arrival() {
    let w = World::with(1, "a z b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (first, second) = (n.call("z"), n.call("b"));
    w.queue_with(&first, AcquireArguments { listening: false, ..wanted(1) }).await;
    w.queue(&second, 1).await;
    assert_eq!(w.picture().await, "holds a:1, queue b:1, parked z:1");
    w.resume(&first).await;
    assert_eq!(w.picture().await, "holds a:1, queue z:1 b:1");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&first])]);
    w.end().await;
}

#[tokio::test]
async fn a_call_asked_again_by_a_node_that_listens_is_back_in_its_place() {
    let w = World::with(1, "a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (first, second) = (n.call("b"), n.call("c"));
    w.queue_with(&first, AcquireArguments { listening: false, ..wanted(1) }).await;
    w.queue(&second, 1).await;
    w.queue_with(&first, AcquireArguments { listening: false, ..wanted(1) }).await;
    assert_eq!(w.picture().await, "holds a:1, queue c:1, parked b:1");
    w.queue(&first, 1).await;
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1");
    // A late copy of the first asking takes nothing back.
    w.queue_with(&first, AcquireArguments { listening: false, ..wanted(1) }).await;
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1");
    w.end().await;
}

#[tokio::test]
async fn whoever_comes_back_is_granted_what_is_free_by_now_and_told_so_at_once() {
    let w = World::with(2, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let (one, other) = (n.call("b"), n.call("c"));
    for call in [&one, &other] {
        w.queue(call, 1).await;
        w.park(call, false, MINUTE).await;
    }
    w.release("a").await;
    assert_eq!(w.picture().await, "parked b:1 c:1");
    let resumed = w.scripts.resume(NS, &[other.clone(), one.clone()]).await.unwrap();
    w.check().await;
    let [of_other, of_one] = [0, 1].map(|index| answered(resumed.1[index].clone()));
    assert_eq!((of_one.outcome, of_other.outcome), (Outcome::Acquired, Outcome::Acquired));
    assert!(of_one.fencing_token < of_other.fencing_token, "in the order of their places");
    assert_eq!(n.received().await, [granted(&[&one]), granted(&[&other])]);
    assert_eq!(of_one, w.ask(&one, wanted(1)).await.unwrap());
    w.end().await;
}

#[tokio::test]
async fn a_call_is_answered_though_its_node_is_not_subscribed() {
    let w = World::with(1, "a b c").await;
    let (mut gone, n) = (w.node("gone").await, w.node("n").await);
    gone.dies().await;
    w.take(&n.call("a"), 1).await;
    let (first, second) = (gone.call("b"), gone.call("c"));
    for call in [&first, &second] {
        w.queue_with(call, AcquireArguments { listening: false, ..wanted(1) }).await;
    }
    w.release("a").await;
    assert_eq!(answered(w.resume(&first).await).outcome, Outcome::Acquired);
    assert_eq!(w.resume(&second).await, CallState::Waiting);
    w.release("b").await;
    assert_eq!(w.picture().await, "parked c:1");
    assert_eq!(w.time_out(&second).await.unwrap().outcome, Outcome::Acquired);
    assert_eq!(w.picture().await, "holds c:1");
    w.end().await;
}

#[tokio::test]
async fn a_call_of_a_node_never_subscribed_learns_of_its_turn_when_it_gives_up() {
    // A node's timer is late more often than not.
    for micros in [59_999_999, 60_000_000, 60_001_000, 60_500_000] {
        let w = World::with(1, "a b").await;
        let n = w.node("n").await;
        w.take(&n.call("a"), 1).await;
        let call = n.call("b");
        w.queue_with(&call, AcquireArguments { listening: false, ..wanted(1) }).await;
        w.release("a").await;
        w.clock.advance(Duration::from_micros(micros)).await;
        let reply = w.time_out(&call).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Acquired, "after {micros} µs");
        w.end().await;
    }
}

#[tokio::test]
async fn a_parked_call_that_gives_up_overtakes_nobody() {
    let w = World::with(2, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (head, parked, last) = (n.call("b"), n.call("c"), n.call("d"));
    w.queue(&head, 2).await;
    w.queue_with(&parked, AcquireArguments { listening: false, ..wanted(1) }).await;
    w.queue(&last, 1).await;
    assert_eq!(w.time_out(&parked).await.unwrap().outcome, Outcome::TimedOut);
    assert_eq!(w.picture().await, "holds a:1, queue b:2 d:1");
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn resume_says_of_each_wait_what_has_become_of_it() {
    let w = World::with(5, "a b c d").await;
    let n = w.node("n").await;
    let granted = n.call("a");
    let token = w.take(&granted, 3).await;
    let (waits, ended) = (n.call("b"), n.call("c"));
    w.queue(&waits, 5).await;
    w.queue(&ended, 5).await;
    w.revoke("c").await;
    let (unknown, elsewhere) = (n.call("b"), n.call_on("t", "b"));
    let asked = [granted, waits, ended, unknown, elsewhere];
    let (sweep_in, replies) = w.scripts.resume(NS, &asked).await.unwrap();
    w.check().await;
    assert_eq!(sweep_in, 15_000_000);
    let reply = answered(replies[0].clone());
    assert_eq!((reply.outcome, reply.fencing_token), (Outcome::Acquired, token));
    assert_eq!(reply.semaphore.unwrap(), w.get().await);
    assert_eq!(
        replies[1..],
        [CallState::Waiting, CallState::Unknown, CallState::Unknown, CallState::Unknown]
    );
    assert_eq!(w.scripts.resume(NS, &[]).await.unwrap().1, []);
    let missing = w.scripts.resume("other", &asked).await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)), "{missing:?}");
    w.end().await;
}

#[tokio::test]
async fn a_new_call_of_a_lease_parked_takes_what_is_free_from_its_place() {
    let w = World::with(3, "a b c").await;
    let (m, n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 2).await;
    let (parked, behind) = (m.call("b"), n.call("c"));
    w.queue(&parked, 2).await;
    w.park(&parked, false, MINUTE).await;
    w.take(&behind, 1).await;
    w.queue(&n.call("c"), 2).await;
    w.cancel(&behind).await;
    assert_eq!(w.picture().await, "holds a:2, queue c:2, parked b:2");
    let reply = w.ask(&n.call("b"), now_or_never(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(w.picture().await, "holds a:2 b:1, queue c:2");
    w.end().await;
}

#[tokio::test]
async fn a_call_parked_is_forgotten_when_its_time_is_over() {
    let w = World::with(1, "a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let (short, long) = (n.call("b"), n.call("c"));
    w.queue(&short, 1).await;
    w.queue(&long, 1).await;
    w.park(&short, false, Duration::from_secs(10)).await;
    w.park(&long, false, Duration::from_secs(3_600)).await;
    assert_eq!(w.wait("b").await.ends_at(), w.clock.now().await + 10_000_000);
    // Never beyond its own deadline.
    assert_eq!(w.wait("c").await.ends_at(), w.clock.now().await + 60_000_000);
    w.advance(9).await;
    w.sweep("n").await;
    assert_eq!(w.picture().await, "holds a:1, parked b:1 c:1");
    // A second later than said, in case its node is about to decide it.
    w.advance(2).await;
    w.sweep("n").await;
    assert_eq!(w.picture().await, "holds a:1, parked c:1");
    assert_eq!(w.resume(&short).await, CallState::Unknown);
    w.advance(50).await;
    w.get().await;
    assert_eq!(w.picture().await, "holds a:1");
    w.end().await;
}

#[tokio::test]
async fn the_place_is_the_leases_as_long_as_one_of_its_calls_is_kept() {
    let w = World::with(1, "a b c").await;
    let (m, n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 1).await;
    let (gone, again) = (m.call("b"), n.call("b"));
    w.queue(&gone, 1).await;
    w.queue(&n.call("c"), 1).await;
    w.park(&gone, false, Duration::from_secs(10)).await;
    w.queue(&again, 1).await;
    w.time_out(&again).await.unwrap();
    assert_eq!(w.picture().await, "holds a:1, queue c:1, parked b:1");
    w.queue(&n.call("b"), 1).await;
    w.advance(10).await;
    w.sweep("n").await;
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1");
    w.end().await;
}

#[tokio::test]
async fn a_grant_that_crossed_is_answered_where_it_is_to_be_kept() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.release("a").await;
    let reply = answered(w.park(&call, false, MINUTE).await);
    assert_eq!((reply.outcome, reply.semaphore), (Outcome::Acquired, Some(w.get().await)));
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}

#[tokio::test]
async fn a_grant_that_crossed_is_undone_to_its_old_place() {
    let w = World::with(2, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let (crossed, behind, last) = (n.call("b"), n.call("c"), n.call("d"));
    w.queue(&crossed, 1).await;
    w.queue(&behind, 2).await;
    w.queue(&last, 1).await;
    let before = w.wait("b").await;
    w.advance(2).await;
    w.release("a").await;
    assert_eq!(w.picture().await, "holds b:1, queue c:2 d:1");
    assert_eq!(w.park(&crossed, true, Duration::from_secs(10)).await, CallState::Waiting);
    assert_eq!(n.received().await, [granted(&[&crossed]), granted(&[&behind])]);
    assert_eq!(w.picture().await, "holds c:2, queue d:1, parked b:1");
    let after = w.wait("b").await;
    assert_eq!((after.score, after.queued_at), (before.score, before.queued_at));
    assert_eq!(after.ends_at(), w.clock.now().await + 10_000_000);
    let again = n.call("b");
    w.queue(&again, 1).await;
    assert_eq!(w.picture().await, "holds c:2, queue b:1 d:1");
    w.release("c").await;
    assert_eq!(n.received().await, [granted(&[&again]), granted(&[&last])]);
    w.end().await;
}

#[tokio::test]
async fn a_growth_that_crossed_is_undone_to_its_old_hold_and_place() {
    let w = World::with(3, "a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 2).await;
    let crossed = n.call("a");
    w.queue(&crossed, 3).await;
    w.queue(&n.call("c"), 3).await;
    w.release("b").await;
    assert_eq!(w.picture().await, "holds a:3, queue c:3");
    w.park(&crossed, true, MINUTE).await;
    assert_eq!(w.picture().await, "holds a:1, queue c:3, parked a:3");
    w.resume(&crossed).await;
    assert_eq!(w.picture().await, "holds a:3, queue c:3");
    w.end().await;
}

#[tokio::test]
async fn a_grant_at_once_that_crossed_is_undone() {
    let w = World::with(3, "a").await;
    let n = w.node("n").await;
    let call = n.call("a");
    w.take(&call, 2).await;
    assert_eq!(w.park(&call, true, MINUTE).await, CallState::Waiting);
    assert!(!w.picture().await.contains("holds"));
    w.end().await;
}

#[tokio::test]
async fn many_are_parked_and_come_back_in_one_step() {
    let w = World::with(1, "a b c d e").await;
    w.semaphore("t", 1).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    let calls = [n.call("b"), n.call_on("t", "b"), n.call("c"), n.call_on("t", "d"), n.call("e")];
    for call in &calls {
        w.queue(call, 1).await;
    }
    let all: Vec<_> = calls.iter().map(|call| (call.clone(), MINUTE)).collect();
    let replies = w.scripts.park(NS, false, &all).await.unwrap();
    w.check().await;
    assert_eq!(replies, vec![CallState::Waiting; 5]);
    assert_eq!(w.picture().await, "holds a:1, parked b:1 c:1 e:1");
    assert_eq!(w.picture_of("t").await, "holds a:1, parked b:1 d:1");
    let (_, resumed) = w.scripts.resume(NS, &calls).await.unwrap();
    w.check().await;
    assert_eq!(resumed, vec![CallState::Waiting; 5]);
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1 e:1");
    assert_eq!(w.picture_of("t").await, "holds a:1, queue b:1 d:1");
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn to_parked_what_nobody_knows_changes_nothing() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    for undo in [false, true] {
        for call in [n.call("a"), n.call("b"), n.call("c"), n.call_on("t", "a")] {
            assert_eq!(w.park(&call, undo, MINUTE).await, CallState::Waiting);
        }
        let elsewhere = w.scripts.park("other", undo, &[(n.call("a"), MINUTE)]).await;
        assert_eq!(elsewhere.unwrap(), [CallState::Waiting]);
    }
    assert_eq!(w.picture().await, "holds a:1, queue b:1");
    w.end().await;
}
