//! One server over TLS.

use grackle_client::{Client, ErrorKind};
use grackle_test_support::TlsRedis;

use super::core_suite::{core_suite, dropped_subscriptions_are_made_again};

async fn start() -> Option<TlsRedis> {
    let server = TlsRedis::start().await;
    if server.is_none() {
        eprintln!("skipped: tls: this Redis was built without");
    }
    server
}

#[tokio::test]
async fn the_core_suite() {
    let Some(server) = start().await else { return };
    let redis = server.redis().await;
    core_suite(&redis).await;
    dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted_and_said_so() {
    let Some(server) = start().await else { return };
    let error = Client::connect(&server.url()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("certificate"), "{error}");
}
