//! One server over a Unix socket.

use grackle_test_support::TestRedis;

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};

#[tokio::test]
async fn the_core_suite() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("redis.sock");
    let server = TestRedis::own_with(&["--unixsocket", path.to_str().unwrap()]).await;
    let url = format!("redis+unix://{}", path.display());
    let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
}
