//! What a Redis user must be allowed, and what is said where it is not.

use std::time::Duration;

use grackle_client::{Client, Config, Error, ErrorKind, ReplicaAcks};
use grackle_test_support::{OwnRedis, RIGHTS, TestNamespace, TestRedis, granted};

/// As that user; the keys and channels are the prefix's.
async fn config(redis: &OwnRedis, rights: &[&str]) -> Config {
    let keys = format!("~{}:*", redis.prefix());
    let channels = format!("&{}:*", redis.prefix());
    let user =
        ["ACL", "SETUSER", "grackle", "reset", "on", ">secret", "resetchannels", &keys, &channels];
    let _: () = redis.run(&[&user, rights].concat()).await;
    let mut config = redis.config();
    config.redis_url = format!("redis://grackle:secret@127.0.0.1:{}", redis.port());
    config
}

async fn refused(config: Config) -> Error {
    let error = Client::connect_with(config).await.expect_err("it must be refused");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    error
}

#[tokio::test]
async fn the_rights_of_the_running_guide_suffice() {
    let guide = include_str!("../../docs/running.md");
    let (_, line) = guide.split_once("ACL SETUSER grackle on >secret").unwrap();
    let (line, _) = line.split_once("\n\n").unwrap();
    let listed: Vec<&str> = line.split_whitespace().filter(|word| word.starts_with('+')).collect();
    assert_eq!(listed, RIGHTS);
    let redis = TestRedis::own().await;
    let config = config(&redis, &RIGHTS).await;
    let client = Client::connect_with(config).await.unwrap();
    let space = TestNamespace::create(client, 1).await;
    let (holder, waiting) = (space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let waiter = space.wait(&waiting, 1).await;
    space.release(&holder).await;
    granted(waiter).await;
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_user_without_a_right_is_told_at_the_start_and_nothing_is_written() {
    let redis = TestRedis::own().await;
    for missing in ["resetchannels", "-publish", "-pubsub", "-hset", "-zadd", "-evalsha"] {
        let rights = [&RIGHTS[..], &[missing]].concat();
        let error = refused(config(&redis, &rights).await).await;
        assert!(!error.to_string().is_empty(), "{missing}");
        assert_eq!(redis.keys_left().await, Vec::<String>::new(), "{missing}");
    }
}

#[tokio::test]
async fn waiting_for_replicas_takes_a_right_more_and_its_lack_is_told_at_the_start() {
    let redis = TestRedis::own().await;
    for (rights, may) in [(["+wait"], true), (["-wait"], false)] {
        let mut config = config(&redis, &[&RIGHTS[..], &rights].concat()).await;
        config.replica_acks = Some(ReplicaAcks::new(1, Duration::from_millis(1)));
        if may {
            let space = TestNamespace::create(Client::connect_with(config).await.unwrap(), 1).await;
            let answer = space.acquire(&space.lease().await, 1, 0).await.unwrap();
            assert_eq!(answer.acked_replicas, Some(0), "it is granted, and nobody replicates");
            redis.assert_nothing_left(&space.client).await;
        } else {
            let found = refused(config).await.to_string();
            assert!(found.contains("refuses this user"), "{found:?}");
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_said_to_be_one() {
    let redis = TestRedis::own().await;
    let mut config = config(&redis, &["+@all"]).await;
    config.redis_url = config.redis_url.replace("secret", "wrong");
    let error = refused(config).await.to_string();
    assert!(error.contains("refuses this user"), "{error}");
}
