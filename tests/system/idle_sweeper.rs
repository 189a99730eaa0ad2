//! What has ended leaves Redis, though nobody calls; and what is there is left alone.

use std::time::Duration;

use grackle_client::wire::{CreateNamespaceRequest, GetNamespaceRequest};
use grackle_test_support::{TestNamespace, TestRedis, eventually};

const SOON: Duration = Duration::from_secs(15);

async fn no_lease_is_left(redis: &TestRedis) {
    eventually("the keys of ended leases are gone", SOON, async || {
        let keys = redis.keys_left().await;
        let lease = |key: &String| key.contains(":lease") || key.contains(":process:");
        (!keys.iter().any(lease)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn leases_that_end_while_nobody_calls_leave_nothing_in_redis() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 3).await;
    for _ in 0..3 {
        let lease = space.lease_for(1).await;
        space.take(&lease, 1).await;
    }
    no_lease_is_left(&redis).await;
    let key = format!("{}:{{ns}}:semaphore:s", redis.prefix());
    let held: String = redis.run(&["HGET", &key, "active_holds"]).await;
    assert_eq!(held, "0");
}

#[tokio::test]
async fn a_server_that_starts_clears_away_what_ended_while_none_was_there() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 3).await;
    let lease = space.lease_for(1).await;
    space.take(&lease, 2).await;
    drop(space);
    let server = grackle_test_support::TestServer::start(&redis).await;
    no_lease_is_left(&redis).await;
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_connects_leaves_every_namespace_as_it_was() {
    let redis = TestRedis::shared().await;
    let client = redis.client().await;
    for name in ["grackle-check", "check", "grackle"] {
        let request = CreateNamespaceRequest { name: name.to_owned(), ..Default::default() };
        client.create_namespace(request).await.unwrap();
    }
    let before = redis.keys_left().await;
    let another = redis.client().await;
    assert_eq!(redis.keys_left().await, before);
    for namespace_name in ["grackle-check", "check", "grackle"].map(str::to_owned) {
        another.get_namespace(GetNamespaceRequest { namespace_name }).await.unwrap();
    }
}

/// Nothing that is published arrives: the wait still gets its turn.
#[tokio::test]
async fn a_node_that_can_not_subscribe_is_granted_all_the_same() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let rights = ["+@all", "-subscribe"];
    let all = ["ACL", "SETUSER", "unsubscribed", "reset", "on", ">secret", "~*", "&*"];
    let _: () = redis.run(&[&all[..], &rights].concat()).await;
    let mut config = redis.config();
    config.redis_url = format!("redis://unsubscribed:secret@127.0.0.1:{}", redis.port());
    let unsubscribed = space.through(grackle_client::Client::connect_with(config).await.unwrap());
    let (holder, waiting) = (space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let call = tokio::spawn(async move { unsubscribed.acquire(&waiting, 1, 3).await });
    let parked = format!("{}:{{ns}}:semaphore:s:parked", redis.prefix());
    eventually("it is parked", SOON, async || {
        let count: i64 = redis.run(&["ZCARD", &parked]).await;
        (count == 1).then_some(())
    })
    .await;
    space.release(&holder).await;
    grackle_test_support::granted(call).await;
}
