//! Watching a semaphore: what whoever looks on sees, and what it costs.

use std::time::Duration;

use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::{
    DeleteNamespaceRequest, DeleteSemaphoreRequest, UpdateSemaphoreRequest,
};
use grackle_client::{Client, Error, ErrorKind};
use grackle_test_support::{
    Link, TestNamespace, TestRedis, Watcher, changes_seen, granted, until_seen,
};

async fn delete(space: &TestNamespace) {
    let (namespace_name, semaphore_name) = (space.namespace.clone(), space.name().to_owned());
    let request = DeleteSemaphoreRequest { namespace_name, semaphore_name };
    space.client.delete_semaphore(request).await.unwrap();
}

async fn describe(space: &TestNamespace, description: &str) {
    let state = space.state().await;
    let request = UpdateSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: space.name().to_owned(),
        description: description.to_owned(),
        permits: state.permits,
        expected_version: state.version,
        ..Default::default()
    };
    space.client.update_semaphore(request).await.unwrap();
}

#[tokio::test]
async fn it_shows_the_state_at_once_and_what_any_node_changes() {
    let redis = TestRedis::shared().await;
    let here = TestNamespace::create(redis.client().await, 2).await;
    let there = here.through(redis.client().await);
    let (first, second) = (there.lease().await, there.lease().await);
    there.take(&first, 2).await;
    let mut watcher = Watcher::at(&here);
    assert_eq!(watcher.state().await, there.state().await);

    let waiter = there.wait(&second, 1).await;
    let seen = watcher.until(|state| state.waiting_count == 1).await;
    assert_eq!((seen.active_holds, seen.waiting_weight), (2, 1));
    there.release(&first).await;
    granted(waiter).await;
    let seen = watcher.until(|state| state.waiting_count == 0).await;
    assert_eq!((seen.active_holds, seen.active_holders_count), (1, 1));
    describe(&there, "new").await;
    watcher.until(|state| state.description == "new" && state.version == 2).await;
    there.revoke(&second).await;
    let last = watcher.until(|state| state.active_holds == 0).await;
    assert_eq!(last, there.state().await);
    drop(watcher);
    redis.assert_nothing_left(&here.client).await;
}

/// Nobody calls: the node that watches sweeps in time, also for a lease that was made since.
#[tokio::test]
async fn it_shows_that_a_lease_has_ended_though_nobody_calls() {
    for before_it_was_watched in [false, true] {
        let redis = TestRedis::shared().await;
        let there = TestNamespace::create(redis.client().await, 2).await;
        // Does nothing but look on, so nothing else tells it of the namespace.
        let here = there.through(redis.client().await);
        let take = async || there.take(&there.lease_for(1).await, 1).await;
        if before_it_was_watched {
            take().await;
        }
        let mut watcher = Watcher::at(&here);
        if !before_it_was_watched {
            assert_eq!(watcher.state().await.active_holds, 0);
            take().await;
        }
        watcher.until(|state| state.active_holds == 1).await;
        drop(there);
        let began = std::time::Instant::now();
        watcher.until(|state| state.active_holds == 0).await;
        assert!(began.elapsed() < Duration::from_secs(4), "before the next regular sweep");
    }
}

#[tokio::test]
async fn it_ends_when_the_semaphore_is_deleted() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let mut watchers = [Watcher::at(&space), Watcher::at(&space)];
    for watcher in &mut watchers {
        watcher.state().await;
    }
    until_seen(&redis, &space, 1).await;
    delete(&space.through(redis.client().await)).await;
    for watcher in &mut watchers {
        watcher.until_deleted().await;
    }
    until_seen(&redis, &space, 0).await;
}

#[tokio::test]
async fn it_ends_when_its_namespace_is_deleted() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    let request = DeleteNamespaceRequest { namespace_name: space.namespace.clone() };
    space.client.delete_namespace(request).await.unwrap();
    watcher.until_deleted().await;
}

#[tokio::test]
async fn what_can_not_be_watched_is_an_error_and_the_end() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let mut watcher = Watcher::at(&space.on_semaphore("none"));
    let found = watcher.next().await;
    assert!(matches!(found, Some(Err(Error::SemaphoreNotFound))), "{found:?}");
    let found = watcher.next().await;
    assert!(found.is_none(), "{found:?}");
    assert!(watcher.next().await.is_none(), "polled after its end it has ended still");
    let mut watcher = Watcher::at(&space.on_semaphore("not a name"));
    let found = watcher.next().await;
    assert!(matches!(found, Some(Err(Error::InvalidField { .. }))), "{found:?}");
    let found = watcher.next().await;
    assert!(found.is_none(), "{found:?}");
    let mut elsewhere = space.clone();
    elsewhere.namespace = "none".to_owned();
    let mut watcher = Watcher::at(&elsewhere);
    let found = watcher.next().await;
    assert!(matches!(found, Some(Err(Error::NamespaceNotFound))), "{found:?}");
}

#[tokio::test]
async fn it_ends_with_an_error_when_its_client_shuts_down() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    until_seen(&redis, &space, 1).await;
    space.client.shutdown().await;
    let error = watcher.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let found = watcher.next().await;
    assert!(found.is_none(), "{found:?}");
    assert!(Watcher::at(&space).next().await.unwrap().is_err(), "nor does another begin");
    until_seen(&redis, &space, 0).await;
}

#[tokio::test]
async fn changes_that_are_not_read_are_one() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let (mut slow, mut quick) = (Watcher::at(&space), Watcher::at(&space));
    slow.state().await;
    let lease = space.lease().await;
    for _ in 0..200 {
        space.take(&lease, 1).await;
        space.release(&lease).await;
    }
    describe(&space, "the last").await;
    quick.until(|state| state.description == "the last").await;
    assert_eq!(slow.state().await.description, "the last");
}

#[tokio::test]
async fn nothing_is_published_while_nobody_watches() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let lease = space.lease().await;
    let publishes = async || redis.command_calls().await.of("publish");
    let before = publishes().await;
    let use_it = async || {
        space.take(&lease, 1).await;
        space.release(&lease).await;
    };
    use_it().await;
    assert_eq!(publishes().await, before);

    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    until_seen(&redis, &space, 1).await;
    use_it().await;
    assert_eq!(publishes().await, before + 2, "one a change");
    drop(watcher);
    until_seen(&redis, &space, 0).await;
    use_it().await;
    let after = publishes().await;
    assert!(after <= before + 3, "at most one that nobody hears");
    use_it().await;
    assert_eq!(publishes().await, after);
}

#[tokio::test]
async fn a_thousand_who_look_on_are_one_subscription_and_one_message_a_change() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let lease = space.lease().await;
    let mut watchers: Vec<_> = (0..1_000).map(|_| Watcher::at(&space)).collect();
    for watcher in &mut watchers {
        watcher.state().await;
    }
    until_seen(&redis, &space, 1).await;
    let pubsub: String = redis.run(&["CLIENT", "LIST", "TYPE", "pubsub"]).await;
    assert_eq!(pubsub.lines().count(), 1, "{pubsub}");
    assert_eq!(redis.connected_clients().await, 2);

    let before = redis.command_calls().await;
    space.take(&lease, 1).await;
    for watcher in &mut watchers {
        watcher.until(|state| state.active_holds == 1).await;
    }
    let calls = redis.command_calls().await.since(&before);
    assert_eq!(calls.of("publish"), 1);
    // The acquire itself; a sweep or a renewal may fall in between.
    assert!(calls.of("evalsha") + calls.of("eval") <= 3, "{calls:?}");

    let kept = watchers.pop().unwrap();
    drop(watchers);
    // The next change reaches the one that is left, so the others' leaving is over by then.
    let mut kept = kept;
    space.release(&lease).await;
    kept.until(|state| state.active_holds == 0).await;
    assert_eq!(changes_seen(&redis, &space).await, 1);
    drop(kept);
    until_seen(&redis, &space, 0).await;
}

#[tokio::test]
async fn it_goes_on_after_its_subscription_is_killed() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let lease = space.lease().await;
    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    for weight in 1..=5 {
        until_seen(&redis, &space, 1).await;
        let killed: i64 = redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
        assert_eq!(killed, 1);
        // Nobody hears this one.
        space.take(&lease, weight).await;
        watcher.until(|state| state.active_holds == weight).await;
    }
}

#[tokio::test]
async fn it_goes_on_after_redis_has_restarted() {
    let mut redis = TestRedis::own_with(&["--appendonly", "yes"]).await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let lease = space.lease().await;
    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    redis.restart().await;
    space.take(&lease, 2).await;
    watcher.until(|state| state.active_holds == 2).await;
    space.release(&lease).await;
    watcher.until(|state| state.active_holds == 0).await;
}

#[tokio::test]
async fn it_ends_after_redis_has_forgotten_all() {
    let mut redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let mut watcher = Watcher::at(&space);
    watcher.state().await;
    redis.kill();
    redis.start_again().await;
    watcher.until_deleted().await;
}

#[tokio::test]
async fn one_that_is_deleted_and_made_again_while_the_link_is_silent_was_deleted() {
    let redis = TestRedis::own().await;
    let near = TestNamespace::create(redis.client().await, 5).await;
    let link = Link::to(&redis).await;
    let mut config = redis.config();
    config.redis_url = link.url();
    let far = near.through(Client::connect_with(config).await.unwrap());
    let mut watcher = Watcher::at(&far);
    watcher.state().await;
    until_seen(&redis, &near, 1).await;
    link.go_silent();
    delete(&near).await;
    near.semaphore(near.name(), 7).await;
    link.cut();
    link.recover();
    watcher.until_deleted().await;
    assert_eq!(Watcher::at(&far).state().await.permits, 7);
}

#[tokio::test]
async fn one_who_comes_later_sees_the_state_at_once() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 5).await;
    let mut first = Watcher::at(&space);
    let shown = first.state().await;
    until_seen(&redis, &space, 1).await;
    let before = redis.command_calls().await;
    let second = Watcher::at(&space).next().await;
    assert!(
        matches!(second, Some(Ok(SemaphoreEvent::Semaphore(ref state))) if *state == shown),
        "{second:?}"
    );
    // Without a word to Redis, but for what is due anyway.
    let scripts = redis.command_calls().await.since(&before).of("evalsha");
    assert!(scripts <= 1, "{scripts} scripts ran");
}
