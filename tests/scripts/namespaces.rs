//! Namespaces: made once, replaced whole, deleted with everything inside.

use grackle_client::scripts::PageStart;
use grackle_client::wire::{CreateNamespaceRequest, Metadata};
use grackle_client::{Error, Limits};
use grackle_test_support::script_world::{
    DAY, MINUTE, NS, START, World, lease_id, metadata, told, wanted,
};

const GONE: &str = "NO_NAMESPACE namespace not found";

fn assert_gone<T: std::fmt::Debug>(reply: Result<T, Error>) {
    assert!(matches!(reply, Err(Error::NamespaceNotFound)), "{reply:?}");
}

async fn empty() -> World {
    World::without_namespace(Limits::default()).await
}

#[tokio::test]
async fn a_namespace_is_made_as_it_was_asked_for() {
    let w = empty().await;
    let labels = metadata(&[("team", "birds"), ("odd \"/\\ é🐦", "\n"), ("empty", "")]);
    let text = "A \"quoted\" / slashed \\ text, é🐦\nof two lines";
    let made = w.scripts.create_namespace("r1", NS, text, &labels).await.unwrap();
    w.check().await;
    assert_eq!((made.name.as_str(), made.description.as_str()), (NS, text));
    assert_eq!((&made.metadata, made.version), (&labels, 1));
    // A time that ends in many zeros is still written out in full.
    assert_eq!((made.created_at, made.updated_at), (START * 1_000, START * 1_000));
    assert_eq!(w.scripts.get_namespace(NS).await.unwrap(), made);
    w.end().await;
}

#[tokio::test]
async fn a_namespace_that_is_there_stays_as_it_is() {
    let w = empty().await;
    let none = Metadata::new();
    let made = w.scripts.create_namespace("r1", NS, "first", &none).await.unwrap();
    w.advance(1).await;
    let refused = w.scripts.create_namespace("r2", NS, "second", &none).await;
    assert!(matches!(refused, Err(Error::NamespaceExists)), "{refused:?}");
    assert_eq!(w.scripts.get_namespace(NS).await.unwrap(), made);
    w.end().await;
}

#[tokio::test]
async fn the_same_request_to_create_is_the_same_call() {
    let w = empty().await;
    let none = Metadata::new();
    let made = w.scripts.create_namespace("r1", NS, "first", &none).await.unwrap();
    w.advance(1).await;
    assert_eq!(w.scripts.create_namespace("r1", NS, "first", &none).await.unwrap(), made);
    w.end().await;
}

#[tokio::test]
async fn an_update_replaces_text_and_labels_whole() {
    let w = empty().await;
    let (first, second) = (metadata(&[("a", "1"), ("b", "2")]), metadata(&[("b", "3")]));
    let made = w.scripts.create_namespace("r1", NS, "first", &first).await.unwrap();
    w.advance(5).await;
    let updated = w.scripts.update_namespace("r2", NS, 1, "second", &second).await.unwrap();
    w.check().await;
    assert_eq!((updated.description.as_str(), &updated.metadata), ("second", &second));
    assert_eq!((updated.version, updated.created_at), (2, made.created_at));
    assert_eq!(updated.updated_at, (START + 5_000_000) * 1_000);
    assert_eq!(w.scripts.get_namespace(NS).await.unwrap(), updated);
    let emptied = w.scripts.update_namespace("r3", NS, 2, "", &Metadata::new()).await.unwrap();
    assert_eq!((emptied.description.as_str(), emptied.metadata.len()), ("", 0));
    w.end().await;
}

#[tokio::test]
async fn an_update_of_another_version_is_refused() {
    let w = World::new().await;
    let none = Metadata::new();
    w.scripts.update_namespace("r2", NS, 1, "second", &none).await.unwrap();
    for version in [1, 3, i64::MAX] {
        let refused = w.scripts.update_namespace("r3", NS, version, "third", &none).await;
        assert!(matches!(refused, Err(Error::VersionMismatch)), "{refused:?}");
    }
    assert_eq!(w.scripts.get_namespace(NS).await.unwrap().description, "second");
    w.end().await;
}

#[tokio::test]
async fn the_same_request_to_update_is_the_same_call() {
    let w = World::new().await;
    let none = Metadata::new();
    let updated = w.scripts.update_namespace("r2", NS, 1, "second", &none).await.unwrap();
    w.advance(1).await;
    let again = w.scripts.update_namespace("r2", NS, 1, "second", &none).await.unwrap();
    assert_eq!(again, updated);
    w.end().await;
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_may_be_deleted() {
    let w = empty().await;
    assert_gone(w.scripts.get_namespace(NS).await);
    assert_gone(w.scripts.update_namespace("r", NS, 1, "", &Metadata::new()).await);
    w.scripts.delete_namespace(NS).await.unwrap();
    w.end().await;
}

#[tokio::test]
async fn deletion_takes_everything_inside_and_tells_those_who_wait() {
    let w = World::with(2, "a b c d").await;
    w.semaphore("t", 1).await;
    let (mut m, mut n) = (w.node("m").await, w.node("n").await);
    w.take(&n.call("a"), 2).await;
    w.take(&n.call_on("t", "b"), 1).await;
    let (grows, waits, elsewhere, parked) =
        (n.call_on("t", "c"), n.call("c"), m.call("c"), m.call("d"));
    w.queue(&grows, 1).await;
    w.queue(&waits, 2).await;
    w.queue(&elsewhere, 2).await;
    w.queue(&parked, 1).await;
    w.park(&parked, false, MINUTE).await;
    w.scripts.delete_namespace(NS).await.unwrap();
    w.check().await;
    assert_eq!(n.received().await, [told(GONE, &[&waits]), told(GONE, &[&grows])]);
    assert_eq!(m.received().await, [told(GONE, &[&elsewhere])]);
    let clock = format!("{}:clock", w.namespace());
    assert_eq!(w.redis.keys_left().await, [clock]);
    assert_gone(w.ask(&waits, wanted(1)).await);
    assert_gone(w.scripts.resume(NS, &[waits]).await);
    assert_gone(w.scripts.get_semaphore(NS, "s").await);
    assert_gone(w.scripts.get_lease(NS, &lease_id("a")).await);
    assert_eq!(w.sweep("n").await.sweep_in, -1);
    w.end().await;
}

#[tokio::test]
async fn a_namespace_made_anew_is_empty() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    let call = n.call("a");
    w.take(&call, 1).await;
    w.queue(&n.call("b"), 1).await;
    w.scripts.delete_namespace(NS).await.unwrap();
    let made = w.scripts.create_namespace("r2", NS, "", &Metadata::new()).await.unwrap();
    w.check().await;
    assert_eq!(made.version, 1);
    let gone = w.ask(&call, wanted(1)).await;
    assert!(matches!(gone, Err(Error::LeaseNotFound)), "{gone:?}");
    let gone = w.scripts.get_semaphore(NS, "s").await;
    assert!(matches!(gone, Err(Error::SemaphoreNotFound)), "{gone:?}");
    w.semaphore("s", 1).await;
    w.leases("a b").await;
    w.take(&call, 1).await;
    assert_eq!(w.picture().await, "holds a:1");
    w.end().await;
}

#[tokio::test]
async fn what_a_deletion_cut_short_has_left_is_cleared_away_by_the_next_creation() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let waits = n.call("b");
    w.queue(&waits, 1).await;
    let _: i64 = w.redis.run(&["DEL", &w.namespace()]).await;
    assert_gone(w.scripts.acquire(NS, &waits, wanted(1)).await);
    w.scripts.create_namespace("r2", NS, "", &Metadata::new()).await.unwrap();
    w.check().await;
    assert_eq!(n.received().await, [told(GONE, &[&waits])]);
    let clock = format!("{}:clock", w.namespace());
    let index = format!("{}:namespaces", w.redis.prefix());
    assert_eq!(w.redis.keys_left().await, [index, w.namespace(), clock]);
    w.end().await;
}

#[tokio::test]
async fn a_crowd_is_cleared_away_in_steps() {
    let w = World::with(2_000, "z").await;
    let none = Metadata::new();
    let mut n = w.node("n").await;
    for number in 0..1_200 {
        let lease = format!("h{number}");
        w.scripts.create_lease(NS, &lease_id(&lease), "p", DAY, &none).await.unwrap();
        w.scripts.acquire(NS, &n.call(&lease), wanted(1)).await.unwrap();
        let name = format!("s{number}");
        w.scripts.create_semaphore(&name, NS, &name, 1, "", &none).await.unwrap();
    }
    let waits = n.call("z");
    w.queue(&waits, 2_000).await;
    let monitor = w.monitor().await;
    w.scripts.delete_namespace(NS).await.unwrap();
    w.check().await;
    let found = w.scripts_run(monitor).await;
    assert!(found > 4, "{found:?}");
    assert_eq!(n.received().await, [told(GONE, &[&waits])]);
    let clock = format!("{}:clock", w.namespace());
    assert_eq!(w.redis.keys_left().await, [clock]);
    w.end().await;
}

#[tokio::test]
async fn one_made_while_a_deletion_is_under_way_is_not_deleted() {
    let w = World::new().await;
    let none = Metadata::new();
    for number in 0..1_200 {
        w.scripts
            .create_lease(NS, &lease_id(&format!("h{number}")), "p", DAY, &none)
            .await
            .unwrap();
    }
    let make = async || {
        loop {
            match w.scripts.create_namespace("anew", NS, "anew", &none).await {
                Err(Error::NamespaceExists) => {}
                made => break made.unwrap(),
            }
        }
    };
    let (deleted, made) = tokio::join!(w.scripts.delete_namespace(NS), make());
    deleted.unwrap();
    w.check().await;
    assert_eq!(w.scripts.get_namespace(NS).await.unwrap(), made);
    let listed = w.scripts.list_namespaces(&PageStart::First, 9).await.unwrap().entries;
    assert_eq!(listed, [made]);
    w.end().await;
}

#[tokio::test]
async fn the_index_of_names_is_mended_by_those_who_read_and_write_it() {
    let w = World::new().await;
    let index = format!("{}:namespaces", w.redis.prefix());
    let listed = async || {
        let page = w.scripts.list_namespaces(&PageStart::First, 9).await.unwrap();
        page.entries.into_iter().map(|namespace| namespace.name).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [NS]);
    let _: i64 = w.redis.run(&["ZADD", &index, "0", "stale"]).await;
    assert_eq!(listed().await, [NS]);
    assert_eq!(w.redis.run::<Vec<String>>(&["ZRANGE", &index, "0", "-1"]).await, [NS]);
    let _: i64 = w.redis.run(&["DEL", &index]).await;
    let found = listed().await;
    assert!(found.is_empty(), "{found:?}");
    w.scripts.create_namespace("r2", NS, "", &Metadata::new()).await.unwrap_err();
    assert_eq!(listed().await, [NS]);
    w.end().await;
}

#[tokio::test]
async fn there_are_no_more_namespaces_than_the_limit() {
    let w = World::new().await;
    let mut config = w.redis.config();
    config.limits.max_namespaces = 2;
    let client = grackle_client::Client::connect_with(config).await.unwrap();
    let create = async |name: &str| {
        let request = CreateNamespaceRequest { name: name.to_owned(), ..Default::default() };
        client.create_namespace(request).await
    };
    create("second").await.unwrap();
    let refused = create("third").await.unwrap_err();
    assert_eq!(refused.to_string(), "limit reached: max_namespaces");
    let exists = create("second").await;
    assert!(matches!(exists, Err(Error::NamespaceExists)), "{exists:?}");
    w.scripts.delete_namespace("second").await.unwrap();
    create("third").await.unwrap();
    w.end().await;
}
