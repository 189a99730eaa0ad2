//! One server over TCP.

use grackle_test_support::TestRedis;

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};

#[tokio::test]
async fn the_core_suite() {
    let redis = TestRedis::own().await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
}
