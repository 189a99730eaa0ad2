//! How a call ends that does not get, or does not want, its answer: time_out and cancel.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, Call, Outcome};
use grackle_test_support::script_world::{NS, World, granted, metadata, wanted};

#[tokio::test]
async fn a_call_that_gives_up_has_timed_out() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.advance(60).await;
    let reply = w.time_out(&call).await.unwrap();
    assert_eq!((reply.outcome, reply.fencing_token), (Outcome::TimedOut, 0));
    assert_eq!(reply.semaphore.unwrap(), w.get().await);
    assert_eq!(w.picture().await, "holds a:5");
    assert_eq!(w.time_out(&call).await.unwrap().outcome, Outcome::TimedOut);
    w.release("a").await;
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn a_grant_that_crosses_with_the_timeout_is_acquired() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.release("a").await;
    w.advance(60).await;
    for _ in 0..2 {
        let reply = w.time_out(&call).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Acquired);
        assert_eq!(reply.fencing_token, w.hold("b").await.fencing_token);
        assert_eq!(reply.semaphore.unwrap().active_holds, 1);
    }
    w.end().await;
}

#[tokio::test]
async fn what_frees_permits_at_the_last_moment_is_swept_before_the_call_gives_up() {
    let w = World::with(5, "b").await;
    w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let call = n.call("b");
    w.queue_with(&call, AcquireArguments { timeout: Duration::from_secs(11), ..wanted(1) }).await;
    w.advance(10).await;
    let reply = w.time_out(&call).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}

#[tokio::test]
async fn a_head_that_gives_up_admits_those_behind_it() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (head, next) = (n.call("b"), n.call("c"));
    w.queue(&head, 5).await;
    w.queue(&next, 1).await;
    let reply = w.time_out(&head).await.unwrap();
    assert_eq!(reply.outcome, Outcome::TimedOut);
    assert_eq!(reply.semaphore.unwrap().active_holds, 4);
    assert_eq!(n.received().await, [granted(&[&next])]);
    w.end().await;
}

#[tokio::test]
async fn a_call_that_gives_up_is_told_what_is_not_there_any_more() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.revoke("b").await;
    let gone = w.time_out(&call).await;
    assert!(matches!(gone, Err(Error::LeaseNotFound)), "{gone:?}");
    w.scripts.delete_semaphore(NS, "s").await.unwrap();
    let gone = w.time_out(&n.call("a")).await;
    assert!(matches!(gone, Err(Error::SemaphoreNotFound)), "{gone:?}");
    w.scripts.delete_namespace(NS).await.unwrap();
    let gone = w.time_out(&call).await;
    assert!(matches!(gone, Err(Error::NamespaceNotFound)), "{gone:?}");
    w.cancel(&call).await;
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_head_admits_those_behind_it() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let (head, next) = (n.call("b"), n.call("c"));
    w.queue(&head, 5).await;
    w.queue(&next, 1).await;
    w.cancel(&head).await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds a:3 c:1");
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_grant_is_undone_and_goes_to_the_next() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let (crossed, next) = (n.call("b"), n.call("c"));
    w.queue(&crossed, 4).await;
    w.queue(&next, 2).await;
    w.release("a").await;
    w.cancel(&crossed).await;
    assert_eq!(n.received().await, [granted(&[&crossed]), granted(&[&next])]);
    assert_eq!(w.picture().await, "holds c:2");
    w.cancel(&crossed).await;
    assert_eq!(w.picture().await, "holds c:2");
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_grant_at_once_is_undone_too() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    let call = n.call("a");
    w.take(&call, 4).await;
    w.cancel(&call).await;
    assert_eq!(w.picture().await, "");
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_growth_goes_back_to_the_hold_as_it_was() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    let (old, new) = (metadata(&[("job", "old")]), metadata(&[("job", "new \"/\\")]));
    w.ask(&n.call("a"), AcquireArguments { metadata: &old, ..wanted(2) }).await.unwrap();
    let before = w.hold("a").await;
    for weight in [2, 5] {
        w.advance(1).await;
        let grown = n.call("a");
        w.ask(&grown, AcquireArguments { metadata: &new, ..wanted(weight) }).await.unwrap();
        assert_eq!(w.hold("a").await.metadata, new);
        let waits = n.call("b");
        w.queue_with(&waits, wanted(4)).await;
        w.cancel(&grown).await;
        let after = w.hold("a").await;
        assert_eq!((after.weight, &after.metadata), (2, &old));
        assert_eq!(
            (after.locked_at, after.fencing_token),
            (before.locked_at, before.fencing_token)
        );
        w.cancel(&waits).await;
        assert_eq!(w.picture().await, "holds a:2");
        assert_eq!(n.received().await, [""; 0]);
    }
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_growth_admits_those_who_now_fit() {
    let w = World::with(5, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let (grown, waits) = (n.call("a"), n.call("b"));
    w.take(&grown, 5).await;
    w.queue(&waits, 3).await;
    w.cancel(&grown).await;
    assert_eq!(n.received().await, [granted(&[&waits])]);
    assert_eq!(w.picture().await, "holds a:2 b:3");
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_growth_out_of_the_queue_goes_back_too() {
    let w = World::with(5, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.take(&n.call("b"), 3).await;
    let before = w.hold("a").await;
    let (grown, next) = (n.call("a"), n.call("c"));
    w.queue(&grown, 5).await;
    w.queue(&next, 3).await;
    w.release("b").await;
    assert_eq!(w.picture().await, "holds a:5, queue c:3");
    w.cancel(&grown).await;
    assert_eq!(n.received().await, [granted(&[&grown]), granted(&[&next])]);
    let after = w.hold("a").await;
    assert_eq!((after.weight, after.fencing_token), (2, before.fencing_token));
    w.end().await;
}

#[tokio::test]
async fn a_cancelled_call_for_less_neither_ends_the_hold_nor_takes_back_what_it_freed() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    let token = w.take(&n.call("a"), 5).await;
    let shrunk = n.call("a");
    w.take(&shrunk, 3).await;
    w.take(&n.call("b"), 2).await;
    w.cancel(&shrunk).await;
    assert_eq!(w.picture().await, "holds a:3 b:2");
    assert_eq!(w.hold("a").await.fencing_token, token);
    w.end().await;
}

#[tokio::test]
async fn grants_of_one_lease_are_undone_in_whatever_order_they_are_cancelled() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for weights in [[1, 2, 3], [2, 2, 2], [3, 2, 1], [1, 3, 2]] {
            let w = World::with(5, "a").await;
            let n = w.node("n").await;
            let calls: [Call; 3] = std::array::from_fn(|_| n.call("a"));
            for (call, weight) in calls.iter().zip(weights) {
                w.take(call, weight).await;
            }
            for (done, index) in order.into_iter().enumerate() {
                assert_ne!(w.picture().await, "", "{weights:?}, {done} of {order:?} cancelled");
                w.cancel(&calls[index]).await;
            }
            assert_eq!(w.picture().await, "", "{weights:?} cancelled in the order {order:?}");
            w.end().await;
        }
    }
}

#[tokio::test]
async fn a_hold_in_use_is_there_whatever_becomes_of_later_calls_of_its_lease() {
    let w = World::with(9, "a").await;
    let n = w.node("n").await;
    let token = w.take(&n.call("a"), 2).await;
    let calls: Vec<Call> = (0..20).map(|_| n.call("a")).collect();
    for call in &calls {
        w.take(call, 3).await;
    }
    for call in calls.iter().rev() {
        w.cancel(call).await;
        assert_eq!(w.hold("a").await.fencing_token, token);
    }
    w.end().await;
}

#[tokio::test]
async fn to_cancel_what_nobody_knows_is_no_error() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    w.queue(&n.call("b"), 5).await;
    let before = w.picture().await;
    for call in [n.call("a"), n.call("b"), n.call("c"), n.call_on("t", "a")] {
        w.cancel(&call).await;
    }
    w.scripts.cancel("other", &n.call("a")).await.unwrap();
    assert_eq!(w.picture().await, before);
    w.end().await;
}
