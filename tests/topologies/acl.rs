//! A user with the rights that the running guide lists, and no more.

use grackle_test_support::TestRedis;

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};

#[tokio::test]
async fn the_core_suite_by_a_user_of_the_least_rights() {
    let server = TestRedis::own().await;
    let url = format!("redis://grackle:secret@127.0.0.1:{}", server.port());
    let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
    let (keys, channels) = (format!("~{}:*", redis.prefix()), format!("&{}:*", redis.prefix()));
    let user =
        ["ACL", "SETUSER", "grackle", "reset", "on", ">secret", "resetchannels", &keys, &channels];
    let _: () = server.run(&[&user[..], &grackle_test_support::RIGHTS].concat()).await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
}
