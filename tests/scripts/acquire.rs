//! acquire and release where nobody has to wait for long: each outcome, and what a hold is.

use std::time::Duration;

use grackle_client::scripts::Outcome;
use grackle_client::wire::Metadata;
use grackle_client::{Error, Limits};
use grackle_test_support::script_world::{
    BUDGET, DAY, NS, SEM, START, World, lease_id, metadata, now_or_never, wanted,
};

const MOST: i64 = (1 << 53) - 1;

fn limited(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// Asserts that the call was refused for that limit.
fn assert_limit<T: std::fmt::Debug>(reply: Result<T, Error>, name: &str) {
    assert!(
        matches!(&reply, Err(Error::ResourceExhausted { limit }) if limit == name),
        "{reply:?}"
    );
}

#[tokio::test]
async fn free_permits_are_acquired_at_once() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    w.advance(7).await;
    let reply = w.ask(&n.call("a"), wanted(3)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(reply.fencing_token, START + 7_000_000);
    let semaphore = reply.semaphore.unwrap();
    assert_eq!((semaphore.permits, semaphore.version), (5, 1));
    assert_eq!((semaphore.active_holds, semaphore.active_holders_count), (3, 1));
    assert_eq!((semaphore.waiting_count, semaphore.waiting_weight), (0, 0));
    assert_eq!(semaphore.last_activity_at, (START + 7_000_000) * 1_000);
    assert_eq!(semaphore.created_at, START * 1_000);
    assert_eq!(w.get().await, semaphore);
    assert_eq!(w.picture().await, "holds a:3");
    w.end().await;
}

#[tokio::test]
async fn an_attempt_that_may_not_wait_is_unavailable_and_takes_no_part_of_its_weight() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.advance(1).await;
    let reply = w.ask(&n.call("b"), now_or_never(3)).await.unwrap();
    assert_eq!((reply.outcome, reply.fencing_token), (Outcome::Unavailable, 0));
    let semaphore = reply.semaphore.unwrap();
    assert_eq!((semaphore.active_holds, semaphore.waiting_count), (3, 0));
    assert_eq!(w.picture().await, "holds a:3");
    assert_eq!(w.get().await, semaphore);
    w.take(&n.call("b"), 2).await;
    assert_eq!(w.picture().await, "holds a:3 b:2");
    w.end().await;
}

#[tokio::test]
async fn a_call_that_has_to_wait_is_told_when_something_is_due() {
    let w = World::of(1).await;
    w.lease("a", Duration::from_secs(9)).await;
    w.lease("b", DAY).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.advance(2).await;
    assert_eq!(w.queue(&n.call("b"), 1).await, 7_000_000);
    assert_eq!(w.picture().await, "holds a:1, queue b:1");
    w.end().await;
}

#[tokio::test]
async fn what_an_acquire_names_has_to_be_there() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    let missing = w.ask(&n.call("b"), wanted(1)).await;
    assert!(matches!(missing, Err(Error::LeaseNotFound)), "{missing:?}");
    let missing = w.ask(&n.call_on("t", "a"), wanted(1)).await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)), "{missing:?}");
    let missing = w.scripts.acquire("other", &n.call("a"), wanted(1)).await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)), "{missing:?}");
    assert_eq!(w.picture().await, "");
    w.end().await;
}

#[tokio::test]
async fn more_than_all_permits_is_refused_at_once_also_of_a_holder() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    for _ in 0..2 {
        for wanted in [wanted(6), now_or_never(6), wanted(MOST)] {
            let refused = w.ask(&n.call("a"), wanted).await;
            assert!(matches!(refused, Err(Error::WeightExceedsPermits)), "{refused:?}");
        }
        w.take(&n.call("a"), 5).await;
    }
    assert_eq!(w.picture().await, "holds a:5");
    w.end().await;
}

#[tokio::test]
async fn a_refusal_keeps_the_books_of_what_it_passed_over() {
    let w = World::with(5, "a b c").await;
    let (n, mut dead) = (w.node("n").await, w.node("dead").await);
    w.take(&n.call("a"), 5).await;
    w.queue(&dead.call("b"), 3).await;
    dead.dies().await;
    let refused = w.ask(&n.call("c"), wanted(6)).await;
    assert!(matches!(refused, Err(Error::WeightExceedsPermits)), "{refused:?}");
    w.end().await;
}

#[tokio::test]
async fn a_limit_keeps_the_books_of_what_it_passed_over() {
    let w = World::with_limits(limited(|limits| limits.max_waiters = 1)).await;
    w.semaphore(SEM, 5).await;
    w.leases("a b c").await;
    let (n, mut dead) = (w.node("n").await, w.node("dead").await);
    w.take(&n.call("a"), 5).await;
    w.queue(&dead.call("b"), 3).await;
    dead.dies().await;
    assert_limit(w.ask(&n.call("c"), wanted(1)).await, "max_waiters");
    w.end().await;
}

#[tokio::test]
async fn the_same_lease_changes_its_one_hold() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    let first = metadata(&[("job", "1"), ("only", "first")]);
    let second = metadata(&[("job", "2")]);
    let ask =
        |weight, metadata| grackle_client::scripts::AcquireArguments { metadata, ..wanted(weight) };
    let token = w.ask(&n.call("a"), ask(2, &first)).await.unwrap().fencing_token;
    for (weight, metadata) in [(2, &second), (5, &first), (1, &second)] {
        w.advance(1).await;
        let reply = w.ask(&n.call("a"), ask(weight, metadata)).await.unwrap();
        assert_eq!((reply.outcome, reply.fencing_token), (Outcome::Acquired, token));
        let semaphore = reply.semaphore.unwrap();
        assert_eq!((semaphore.active_holds, semaphore.active_holders_count), (weight, 1));
        let hold = w.hold("a").await;
        assert_eq!((hold.weight, &hold.metadata), (weight, metadata));
        assert_eq!(hold.locked_at, w.clock.now().await);
    }
    w.end().await;
}

#[tokio::test]
async fn less_weight_frees_the_rest_at_once() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    w.take(&n.call("a"), 2).await;
    w.take(&n.call("b"), 3).await;
    assert_eq!(w.picture().await, "holds a:2 b:3");
    w.end().await;
}

#[tokio::test]
async fn more_weight_needs_only_the_difference() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.take(&n.call("b"), 1).await;
    w.take(&n.call("a"), 4).await;
    let reply = w.ask(&n.call("a"), now_or_never(5)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    assert_eq!(w.picture().await, "holds a:4 b:1");
    w.end().await;
}

#[tokio::test]
async fn a_retry_of_a_granted_call_finds_its_hold() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    let call = n.call("a");
    let token = w.take(&call, 3).await;
    w.take(&n.call("b"), 2).await;
    w.advance(1).await;
    assert_eq!(w.take(&call, 3).await, token);
    assert_eq!(w.picture().await, "holds a:3 b:2");
    assert_eq!(w.hold("a").await.locked_at, START);
    w.end().await;
}

#[tokio::test]
async fn a_release_ends_the_hold_and_only_that_of_its_lease() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.take(&n.call("b"), 2).await;
    let released = w.release("a").await;
    assert_eq!((released.active_holds, released.active_holders_count), (2, 1));
    assert_eq!(w.picture().await, "holds b:2");
    let not_held = w.release("a").await;
    assert_eq!(not_held, released);
    assert_eq!(w.picture().await, "holds b:2");
    w.end().await;
}

#[tokio::test]
async fn what_a_release_names_has_to_be_there() {
    let w = World::with(5, "a").await;
    let a = lease_id("a");
    let missing = w.scripts.release(NS, SEM, &lease_id("b")).await;
    assert!(matches!(missing, Err(Error::LeaseNotFound)), "{missing:?}");
    let missing = w.scripts.release(NS, "t", &a).await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)), "{missing:?}");
    let missing = w.scripts.release("other", SEM, &a).await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)), "{missing:?}");
    w.end().await;
}

#[tokio::test]
async fn only_acquires_and_releases_are_activity() {
    let w = World::with(2, "a b").await;
    let mut n = w.node("n").await;
    let waits = n.call("b");
    let active = async || {
        let at = w.get().await.last_activity_at;
        let now = w.clock.now().await * 1_000;
        w.advance(1).await;
        at == now
    };
    w.advance(1).await;
    w.take(&n.call("a"), 2).await;
    assert!(active().await, "acquired");
    w.ask(&n.call("b"), now_or_never(1)).await.unwrap();
    assert!(active().await, "unavailable");
    w.queue(&waits, 1).await;
    assert!(active().await, "waiting");
    w.time_out(&waits).await.unwrap();
    w.resume(&waits).await;
    w.cancel(&waits).await;
    w.sweep("n").await;
    w.set_permits(3).await.unwrap();
    w.scripts.refresh_lease(NS, &lease_id("a"), DAY).await.unwrap();
    assert!(!active().await, "nothing of the kind");
    w.release("a").await;
    assert!(active().await, "released");
    w.release("a").await;
    assert!(active().await, "not held");
    w.take(&n.call("b"), 3).await;
    w.queue(&n.call("a"), 1).await;
    assert!(active().await, "waiting");
    w.revoke("b").await;
    assert!(!active().await, "a hand-off");
    assert_eq!(n.received().await.len(), 1);
    w.end().await;
}

#[tokio::test]
async fn labels_of_a_hold_come_back_as_they_were_given() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    let odd = metadata(&[
        ("quote \" back \\ slash /", "'\"\\/\u{7}\n\t\u{0}\u{7f}"),
        ("ключ 🐦", "значение 🐦‍⬛ \u{2028}"),
        ("empty", ""),
        ("1", "2"),
        ("null", "null"),
        ("{\"a\":[]}", "{}"),
        ("long", &"ä".repeat(128)),
    ]);
    let ask = grackle_client::scripts::AcquireArguments { metadata: &odd, ..wanted(1) };
    for lease in ["a", "b"] {
        w.ask(&n.call(lease), ask).await.unwrap();
    }
    assert_eq!(w.wait("b").await.metadata, odd);
    w.release("a").await;
    assert_eq!(n.received().await.len(), 1);
    assert_eq!(w.hold("b").await.metadata, odd);
    let start = grackle_client::scripts::PageStart::First;
    let page = w.scripts.list_semaphore_holders(NS, SEM, &start, 10).await.unwrap();
    assert_eq!(page.entries[0].metadata, odd);
    w.end().await;
}

#[tokio::test]
async fn a_semaphore_has_no_more_holders_than_its_limit() {
    let w = World::with_limits(limited(|limits| limits.max_holders = 2)).await;
    w.semaphore(SEM, 9).await;
    w.leases("a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    assert_limit(w.ask(&n.call("c"), wanted(1)).await, "max_holders");
    assert_limit(w.ask(&n.call("c"), now_or_never(1)).await, "max_holders");
    w.take(&n.call("b"), 3).await;
    w.release("a").await;
    w.take(&n.call("c"), 1).await;
    assert_eq!(w.picture().await, "holds b:3 c:1");
    w.end().await;
}

#[tokio::test]
async fn a_lease_has_no_more_holds_and_waits_than_its_limit() {
    let w = World::with_limits(limited(|limits| limits.max_holds_per_lease = 2)).await;
    for name in ["s", "t", "u"] {
        w.semaphore(name, 1).await;
    }
    w.leases("a b").await;
    let n = w.node("n").await;
    w.take(&n.call_on("t", "b"), 1).await;
    w.take(&n.call_on("s", "a"), 1).await;
    let waits = n.call_on("t", "a");
    w.queue(&waits, 1).await;
    assert_limit(w.ask(&n.call_on("u", "a"), wanted(1)).await, "max_holds_per_lease");
    w.take(&n.call_on("s", "a"), 1).await;
    w.cancel(&waits).await;
    w.take(&n.call_on("u", "a"), 1).await;
    w.end().await;
}

#[tokio::test]
async fn a_holder_whose_lease_has_expired_is_not_in_the_way() {
    let w = World::of(1).await;
    w.lease("a", Duration::from_secs(10)).await;
    w.lease("b", DAY).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.advance(9).await;
    let reply = w.ask(&n.call("b"), now_or_never(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    w.advance(1).await;
    let gone = w.ask(&n.call("a"), wanted(1)).await;
    assert!(matches!(gone, Err(Error::LeaseNotFound)), "{gone:?}");
    w.take(&n.call("b"), 1).await;
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}

#[tokio::test]
async fn an_acquire_clears_all_that_has_expired_before_it_answers() {
    let w = World::of(1_200).await;
    let n = w.node("n").await;
    w.lease("z", DAY).await;
    for number in 0..1_200 {
        let (lease, ttl) = (format!("h{number}"), Duration::from_secs(10));
        w.scripts.create_lease(NS, &lease_id(&lease), "p", ttl, &Metadata::new()).await.unwrap();
        w.scripts.acquire(NS, &n.call(&lease), wanted(1)).await.unwrap();
    }
    w.advance(10).await;
    let monitor = w.monitor().await;
    let reply = w.scripts.acquire(NS, &n.call("z"), now_or_never(1_200)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    let found = w.scripts_run(monitor).await;
    assert!(found > 1_200 / BUDGET, "{found:?}");
    assert_eq!(w.picture().await, "holds z:1200");
    w.end().await;
}
