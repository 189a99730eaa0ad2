//! watch, and what the other scripts publish while a semaphore is watched.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::WatchReply;
use grackle_test_support::script_world::{
    NS, SEM, Subscription, World, lease_id, now_or_never, wanted,
};

/// The last of what was told is what is shown now, and so many were.
async fn tells(w: &World, subscription: &mut Subscription, what: &str, count: usize) {
    let told: Vec<WatchReply> = subscription.messages_as().await;
    assert_eq!(told.len(), count, "{what}: {told:#?}");
    let semaphore = Some(w.get().await);
    let shown = WatchReply { at: w.clock.now().await, sweep_in: None, semaphore };
    assert_eq!(told.last(), Some(&shown), "{what}");
}

async fn mark(w: &World) -> Option<String> {
    w.redis.run(&["HGET", &format!("{}:semaphore:{SEM}", w.namespace()), "watched"]).await
}

#[tokio::test]
async fn it_answers_what_is_shown_and_when() {
    let w = World::with(3, "a").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let sight = w.scripts.watch(NS, SEM).await.unwrap();
    assert_eq!((sight.at, sight.semaphore.as_ref()), (w.clock.now().await, Some(&w.get().await)));
    assert_eq!(sight.semaphore.unwrap().active_holds, 2);
    w.end().await;
}

#[tokio::test]
async fn it_does_not_count_what_has_ended() {
    let w = World::of(3).await;
    w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.advance(11).await;
    let sight = w.scripts.watch(NS, SEM).await.unwrap();
    assert_eq!(sight.semaphore.unwrap().active_holds, 0);
    w.end().await;
}

#[tokio::test]
async fn it_says_when_something_is_due() {
    let w = World::of(3).await;
    assert_eq!(w.scripts.watch(NS, SEM).await.unwrap().sweep_in, Some(-1));
    w.lease("a", Duration::from_secs(10)).await;
    w.advance(4).await;
    assert_eq!(w.scripts.watch(NS, SEM).await.unwrap().sweep_in, Some(6_000_000));
    w.end().await;
}

#[tokio::test]
async fn what_is_not_there_can_not_be_watched() {
    let w = World::new().await;
    let found = w.scripts.watch(NS, SEM).await;
    assert!(matches!(found, Err(Error::SemaphoreNotFound)), "{found:?}");
    let found = w.scripts.watch("other", SEM).await;
    assert!(matches!(found, Err(Error::NamespaceNotFound)), "{found:?}");
    w.end().await;
}

#[tokio::test]
async fn every_change_of_what_is_shown_is_told_once() {
    let w = World::with(3, "a b c d").await;
    let n = w.node("n").await;
    let mut subscription = w.watch(SEM).await;
    w.take(&n.call("a"), 2).await;
    tells(&w, &mut subscription, "an acquire", 1).await;
    w.ask(&n.call("b"), now_or_never(2)).await.unwrap();
    tells(&w, &mut subscription, "a refusal moves last_activity_at", 1).await;
    let (b, c) = (n.call("b"), n.call("c"));
    w.queue(&b, 2).await;
    tells(&w, &mut subscription, "a waiter", 1).await;
    w.queue(&c, 1).await;
    tells(&w, &mut subscription, "another", 1).await;
    w.park(&c, false, Duration::from_secs(9)).await;
    tells(&w, &mut subscription, "one that is parked", 1).await;
    w.resume(&c).await;
    tells(&w, &mut subscription, "and comes back", 1).await;
    w.release("a").await;
    tells(&w, &mut subscription, "a release that hands on", 1).await;
    let d = n.call("d");
    w.queue(&d, 3).await;
    tells(&w, &mut subscription, "a waiter that does not fit", 1).await;
    w.cancel(&d).await;
    tells(&w, &mut subscription, "one that leaves", 1).await;
    w.set_permits(5).await.unwrap();
    tells(&w, &mut subscription, "an update", 1).await;
    w.revoke("b").await;
    tells(&w, &mut subscription, "a revoked lease", 1).await;
    w.end().await;
}

#[tokio::test]
async fn the_end_of_a_lease_is_told_by_whoever_sweeps() {
    let w = World::of(3).await;
    w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let mut subscription = w.watch(SEM).await;
    w.advance(11).await;
    w.sweep("other").await;
    tells(&w, &mut subscription, "a lease that ended", 1).await;
    w.end().await;
}

#[tokio::test]
async fn what_changes_nothing_that_is_shown_is_not_told() {
    let w = World::with(3, "a").await;
    w.semaphore("t", 1).await;
    let n = w.node("n").await;
    let mut subscription = w.watch(SEM).await;
    w.take(&n.call_on("t", "a"), 1).await;
    w.get().await;
    w.scripts.get_lease(NS, &lease_id("a")).await.unwrap();
    w.sweep("n").await;
    let told: Vec<WatchReply> = subscription.messages_as().await;
    assert_eq!(told, []);
    w.end().await;
}

#[tokio::test]
async fn its_deletion_is_the_last_that_is_told() {
    let w = World::with(3, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let mut subscription = w.watch(SEM).await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    let told: Vec<WatchReply> = subscription.messages_as().await;
    assert_eq!(told, [WatchReply { at: w.clock.now().await, sweep_in: None, semaphore: None }]);
    // One by the same name is another.
    w.semaphore(SEM, 1).await;
    w.take(&n.call("b"), 1).await;
    assert_eq!(subscription.messages_as::<WatchReply>().await, []);
    w.end().await;
}

#[tokio::test]
async fn the_deletion_of_its_namespace_is_told_too() {
    let w = World::of(3).await;
    let mut subscription = w.watch(SEM).await;
    w.scripts.delete_namespace(NS).await.unwrap();
    let told: Vec<WatchReply> = subscription.messages_as().await;
    assert_eq!(told, [WatchReply { at: w.clock.now().await, sweep_in: None, semaphore: None }]);
    w.end().await;
}

#[tokio::test]
async fn nothing_is_told_once_the_mark_has_run_out() {
    let w = World::with(3, "a b").await;
    let n = w.node("n").await;
    let mut subscription = w.watch(SEM).await;
    w.advance(29).await;
    w.take(&n.call("a"), 1).await;
    tells(&w, &mut subscription, "a change in time", 1).await;
    w.advance(1).await;
    w.take(&n.call("b"), 1).await;
    assert_eq!(subscription.messages_as::<WatchReply>().await, []);
    assert_eq!(mark(&w).await, None, "nobody has to look at it again");
    w.end().await;
}

#[tokio::test]
async fn a_mark_goes_with_the_first_change_that_nobody_hears() {
    let w = World::with(3, "a").await;
    let n = w.node("n").await;
    w.scripts.watch(NS, SEM).await.unwrap();
    let found = mark(&w).await;
    assert!(found.is_some(), "{found:?}");
    w.ask(&n.call("a"), wanted(1)).await.unwrap();
    assert_eq!(mark(&w).await, None);
    w.end().await;
}
