//! Semaphores: made once, replaced whole, deleted under those who hold and wait.

use grackle_client::scripts::CallState;
use grackle_client::wire::Metadata;
use grackle_client::{Error, Limits};
use grackle_test_support::script_world::{
    BUDGET, DAY, MINUTE, NS, SEM, START, World, granted, lease_id, metadata, told, wanted,
};

const MOST: i64 = (1 << 53) - 1;
const GONE: &str = "NO_SEMAPHORE semaphore not found";

fn assert_gone<T: std::fmt::Debug>(reply: Result<T, Error>) {
    assert!(matches!(reply, Err(Error::SemaphoreNotFound)), "{reply:?}");
}

fn assert_no_namespace<T: std::fmt::Debug>(reply: Result<T, Error>) {
    assert!(matches!(reply, Err(Error::NamespaceNotFound)), "{reply:?}");
}

#[tokio::test]
async fn a_semaphore_is_made_as_it_was_asked_for() {
    let w = World::new().await;
    let labels = metadata(&[("team", "birds"), ("odd \"/\\ é🐦", "\n\u{0}"), ("empty", "")]);
    let text = "A \"quoted\" / slashed \\ text, é🐦\nof two lines";
    let made = w.scripts.create_semaphore("r1", NS, SEM, MOST, text, &labels).await.unwrap();
    w.check().await;
    assert_eq!((made.name.as_str(), made.description.as_str()), (SEM, text));
    assert_eq!((made.permits, &made.metadata, made.version), (MOST, &labels, 1));
    assert_eq!((made.active_holds, made.active_holders_count), (0, 0));
    assert_eq!((made.waiting_count, made.waiting_weight), (0, 0));
    let now = START * 1_000;
    assert_eq!([made.created_at, made.updated_at, made.last_activity_at], [now; 3]);
    assert_eq!(w.get().await, made);
    w.end().await;
}

#[tokio::test]
async fn a_semaphore_that_is_there_stays_as_it_is() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let before = w.get().await;
    w.advance(1).await;
    let refused = w.scripts.create_semaphore("r2", NS, SEM, 1, "second", &Metadata::new()).await;
    assert!(matches!(refused, Err(Error::SemaphoreExists)), "{refused:?}");
    assert_eq!(w.get().await, before);
    w.end().await;
}

#[tokio::test]
async fn the_same_request_to_create_is_the_same_call() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let again = w.scripts.create_semaphore("made-s", NS, SEM, 5, "", &Metadata::new()).await;
    assert_eq!(again.unwrap(), w.get().await);
    assert_eq!(w.picture().await, "holds a:2");
    w.end().await;
}

#[tokio::test]
async fn what_semaphore_operations_name_has_to_be_there() {
    let w = World::of(5).await;
    let none = Metadata::new();
    assert_no_namespace(w.scripts.create_semaphore("r", "other", SEM, 1, "", &none).await);
    assert_no_namespace(w.scripts.get_semaphore("other", SEM).await);
    assert_no_namespace(w.scripts.update_semaphore("r", "other", SEM, 1, 1, "", &none).await);
    assert_no_namespace(w.scripts.delete_semaphore("other", SEM).await);
    let start = grackle_client::scripts::PageStart::First;
    assert_no_namespace(w.scripts.list_semaphores("other", &start, 9).await);
    assert_no_namespace(w.scripts.list_semaphore_holders("other", SEM, &start, 9).await);
    assert_gone(w.scripts.get_semaphore(NS, "t").await);
    assert_gone(w.scripts.update_semaphore("r", NS, "t", 1, 1, "", &none).await);
    assert_gone(w.scripts.list_semaphore_holders(NS, "t", &start, 9).await);
    w.scripts.delete_semaphore(NS, "t").await.unwrap();
    w.end().await;
}

#[tokio::test]
async fn an_update_replaces_text_permits_and_labels_whole() {
    let w = World::new().await;
    let (first, second) = (metadata(&[("a", "1"), ("b", "2")]), metadata(&[("b", "3")]));
    let made = w.scripts.create_semaphore("r1", NS, SEM, 5, "first", &first).await.unwrap();
    w.advance(5).await;
    let update = w.scripts.update_semaphore("r2", NS, SEM, 1, MOST, "second", &second);
    let updated = update.await.unwrap();
    w.check().await;
    assert_eq!((updated.description.as_str(), &updated.metadata), ("second", &second));
    assert_eq!((updated.permits, updated.version), (MOST, 2));
    assert_eq!(updated.updated_at, (START + 5_000_000) * 1_000);
    assert_eq!((updated.created_at, updated.last_activity_at), (made.created_at, made.created_at));
    assert_eq!(w.get().await, updated);
    let emptied = w.scripts.update_semaphore("r3", NS, SEM, 2, 1, "", &Metadata::new()).await;
    let emptied = emptied.unwrap();
    assert_eq!((emptied.description.as_str(), emptied.metadata.len()), ("", 0));
    w.end().await;
}

#[tokio::test]
async fn an_update_of_another_version_is_refused() {
    let w = World::of(5).await;
    w.set_permits(6).await.unwrap();
    for version in [1, 3, i64::MAX] {
        let none = Metadata::new();
        let refused = w.scripts.update_semaphore("r", NS, SEM, version, 7, "", &none).await;
        assert!(matches!(refused, Err(Error::VersionMismatch)), "{refused:?}");
    }
    assert_eq!(w.get().await.permits, 6);
    w.end().await;
}

#[tokio::test]
async fn permits_are_never_less_than_what_is_held() {
    let w = World::with(5, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let refused = w.set_permits(2).await;
    assert!(matches!(refused, Err(Error::PermitsBelowActiveHolds)), "{refused:?}");
    assert_eq!(w.get().await.version, 1);
    w.set_permits(3).await.unwrap();
    w.queue(&n.call("b"), 1).await;
    w.end().await;
}

#[tokio::test]
async fn a_holder_whose_lease_has_expired_does_not_hold_permits_up() {
    let w = World::of(5).await;
    w.lease("a", MINUTE).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    w.advance(60).await;
    assert_eq!(w.set_permits(1).await.unwrap().active_holds, 0);
    w.end().await;
}

#[tokio::test]
async fn the_same_request_to_update_is_the_same_call() {
    let w = World::of(5).await;
    let none = Metadata::new();
    let updated = w.scripts.update_semaphore("r", NS, SEM, 1, 7, "", &none).await.unwrap();
    w.advance(1).await;
    let again = w.scripts.update_semaphore("r", NS, SEM, 1, 7, "", &none).await.unwrap();
    assert_eq!(again, updated);
    w.end().await;
}

#[tokio::test]
async fn deletion_drops_the_holders_and_tells_those_who_wait() {
    let w = World::with(2, "a b c d").await;
    w.semaphore("t", 1).await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    let (grows, waits, too, parked) = (n.call("a"), n.call("c"), m.call("c"), m.call("d"));
    w.queue(&waits, 1).await;
    w.queue(&too, 1).await;
    w.queue(&grows, 2).await;
    w.queue(&parked, 1).await;
    w.park(&parked, false, MINUTE).await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    w.check().await;
    assert_eq!(n.received().await, [told(GONE, &[&grows]), told(GONE, &[&waits])]);
    assert_eq!(m.received().await, [told(GONE, &[&too])]);
    assert_gone(w.scripts.get_semaphore(NS, SEM).await);
    assert_gone(w.ask(&waits, wanted(1)).await);
    assert_gone(w.scripts.release(NS, SEM, &lease_id("a")).await);
    assert_eq!(w.resume(&waits).await, CallState::Unknown);
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    w.end().await;
}

#[tokio::test]
async fn a_lease_outlives_the_semaphores_that_it_held() {
    let w = World::with(2, "a").await;
    w.semaphore("t", 1).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    w.check().await;
    w.scripts.refresh_lease(NS, &lease_id("a"), DAY).await.unwrap();
    assert_eq!(w.picture_of("t").await, "holds a:1");
    w.revoke("a").await;
    assert_eq!(w.picture_of("t").await, "");
    w.end().await;
}

#[tokio::test]
async fn a_semaphore_made_anew_is_empty() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    let (held, waited) = (n.call("a"), n.call("b"));
    w.take(&held, 1).await;
    w.queue(&waited, 1).await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    let made = w.scripts.create_semaphore("anew", NS, SEM, 1, "", &Metadata::new()).await.unwrap();
    w.check().await;
    assert_eq!((made.version, made.active_holds, made.waiting_count), (1, 0, 0));
    assert_eq!(w.picture().await, "");
    // Calls on the one before have no part in this one.
    w.cancel(&held).await;
    w.cancel(&waited).await;
    w.take(&n.call("b"), 1).await;
    w.queue(&n.call("a"), 1).await;
    assert_eq!(w.picture().await, "holds b:1, queue a:1");
    assert_eq!(n.received().await, [told(GONE, &[&waited])]);
    w.end().await;
}

/// A semaphore with that many holders, known as h0, h1, …
async fn crowded(holders: usize) -> World {
    let w = World::with(i64::try_from(holders).unwrap(), "z").await;
    let n = w.node("n").await;
    for number in 0..holders {
        let (lease, none) = (format!("h{number}"), Metadata::new());
        w.scripts.create_lease(NS, &lease_id(&lease), "p", DAY, &none).await.unwrap();
        w.scripts.acquire(NS, &n.call(&lease), wanted(1)).await.unwrap();
    }
    w.check().await;
    w
}

#[tokio::test]
async fn a_crowd_of_holders_is_dropped_in_steps() {
    let w = crowded(1_200).await;
    let mut n = w.node("other").await;
    let waits = n.call("z");
    w.queue(&waits, 1).await;
    let monitor = w.monitor().await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    let found = w.scripts_run(monitor).await;
    assert!(found > 1_200 / BUDGET, "{found:?}");
    assert_eq!(n.received().await, [told(GONE, &[&waits])]);
    assert_eq!(w.state().await.holds(SEM).len(), 0);
    // What it left to the next script is done by the next.
    w.sweep("n").await;
    w.semaphore(SEM, 1).await;
    w.take(&waits, 1).await;
    w.end().await;
}

#[tokio::test]
async fn one_made_while_a_deletion_is_under_way_is_not_deleted() {
    let w = crowded(1_200).await;
    let make = async || {
        let none = Metadata::new();
        loop {
            match w.scripts.create_semaphore("anew", NS, SEM, 1, "", &none).await {
                Err(Error::SemaphoreExists) => {}
                made => break made.unwrap(),
            }
        }
    };
    let (deleted, made) = tokio::join!(w.scripts.delete_semaphore(NS, SEM), make());
    deleted.unwrap();
    assert_eq!(w.get().await, made);
    w.end().await;
}

#[tokio::test]
async fn what_a_deletion_cut_short_has_left_is_cleared_away_by_the_next_creation() {
    let w = crowded(1_200).await;
    let mut n = w.node("other").await;
    let waits = n.call("z");
    w.queue(&waits, 1).await;
    let (ns, s) = (w.namespace(), format!("{}:semaphore:{SEM}", w.namespace()));
    let _: i64 = w.redis.run(&["DEL", &s]).await;
    let _: i64 = w.redis.run(&["ZREM", &format!("{ns}:semaphores"), SEM]).await;
    assert_gone(w.scripts.get_semaphore(NS, SEM).await);
    w.semaphore(SEM, 1).await;
    assert_eq!(n.received().await, [told(GONE, &[&waits])]);
    assert_eq!(w.picture().await, "");
    w.take(&n.call("h5"), 1).await;
    w.end().await;
}

#[tokio::test]
async fn what_a_deletion_cut_short_has_left_may_end_with_its_leases() {
    let w = World::with(2, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.queue(&n.call("b"), 2).await;
    let (ns, s) = (w.namespace(), format!("{}:semaphore:{SEM}", w.namespace()));
    let _: i64 = w.redis.run(&["DEL", &s]).await;
    let _: i64 = w.redis.run(&["ZREM", &format!("{ns}:semaphores"), SEM]).await;
    w.scripts.revoke_lease(NS, &lease_id("a")).await.unwrap();
    w.check().await;
    w.end().await;
}

#[tokio::test]
async fn a_namespace_has_no_more_semaphores_than_its_limit() {
    let mut limits = Limits::default();
    limits.max_semaphores = 2;
    let w = World::with_limits(limits).await;
    w.semaphore("s", 1).await;
    w.semaphore("t", 1).await;
    let none = Metadata::new();
    let refused = w.scripts.create_semaphore("r", NS, "u", 1, "", &none).await;
    assert_eq!(refused.unwrap_err().to_string(), "limit reached: max_semaphores");
    let exists = w.scripts.create_semaphore("r", NS, "t", 1, "", &none).await;
    assert!(matches!(exists, Err(Error::SemaphoreExists)), "{exists:?}");
    w.semaphore("t", 1).await;
    w.scripts.delete_semaphore(NS, "s").await.unwrap();
    w.semaphore("u", 1).await;
    w.end().await;
}

#[tokio::test]
async fn names_may_be_as_long_and_as_odd_as_the_rules_allow() {
    let w = World::new().await;
    w.leases("a b").await;
    let mut n = w.node("n").await;
    let long = "x".repeat(128);
    for name in ["-", "_", "0", "queue", "holders", "clock", "wait", &long] {
        w.semaphore(name, 1).await;
        w.take(&n.call_on(name, "a"), 1).await;
        let waits = n.call_on(name, "b");
        w.queue(&waits, 1).await;
        w.scripts.release(NS, name, &lease_id("a")).await.unwrap();
        w.check().await;
        assert_eq!(n.received().await, [granted(&[&waits])]);
        assert_eq!(w.picture_of(name).await, "holds b:1");
    }
    w.end().await;
}
