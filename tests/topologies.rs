//! The same promises on every layout of Redis: TCP, Unix socket, TLS, a user of few rights, Sentinel,
//! Cluster.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::{Duration, Instant};

use grackle_client::types::AcquireOutcome;
use grackle_client::{Client, ErrorKind};
use support::{Cluster, LONG, RedisServer, Sentinels, Space, TestRedis, TlsRedis, granted};

/// All that a caller needs, on two nodes; nothing is left at the end.
async fn core_suite(redis: &TestRedis) {
    let here = Space::create(redis.client().await, 2).await;
    let there = here.through(redis.client().await);
    a_release_hands_on(&here, &there).await;
    a_wait_times_out(&there).await;
    an_expired_lease_hands_on(&here, &there).await;
    a_dropped_call_leaves_the_queue(&here, &there).await;
    redis.assert_nothing_left(&here.client).await;
}

async fn a_release_hands_on(here: &Space, there: &Space) {
    let holder = here.lease().await;
    here.take(&holder, 2).await;
    let mut waiters = Vec::new();
    for node in [there, here, there, here] {
        let lease = node.lease().await;
        waiters.push((node.wait(&lease, 2).await, lease));
    }
    here.release(&holder).await;
    let mut last = 0;
    for (waiter, lease) in waiters {
        let token = granted(waiter).await;
        assert!(token > last, "{token} after {last}");
        last = token;
        there.release(&lease).await;
    }
    let state = here.state().await;
    assert_eq!((state.active_holds, state.waiting_count), (0, 0));
}

async fn a_wait_times_out(node: &Space) {
    let (holder, waiting) = (node.lease().await, node.lease().await);
    node.take(&holder, 1).await;
    let began = Instant::now();
    let answer = node.acquire(&waiting, 2, 1).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::TimedOut);
    assert!(began.elapsed() >= Duration::from_secs(1));
    let answer = node.acquire(&waiting, 2, 0).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::Unavailable);
    node.release(&holder).await;
}

async fn an_expired_lease_hands_on(here: &Space, there: &Space) {
    let (crashed, waiting) = (here.lease_for(1).await, there.lease().await);
    here.take(&crashed, 2).await;
    granted(there.wait(&waiting, 1).await).await;
    there.release(&waiting).await;
}

async fn a_dropped_call_leaves_the_queue(here: &Space, there: &Space) {
    let (holder, dropped, next) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let call = there.wait(&dropped, 2).await;
    let behind = here.wait(&next, 1).await;
    call.abort();
    granted(behind).await;
    here.release(&holder).await;
    here.release(&next).await;
}

/// Subscriptions end, and the waits go on.
async fn dropped_subscriptions_are_made_again(redis: &TestRedis, masters: &[support::Raw]) {
    let here = Space::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, first, second) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiters = [there.wait(&first, 1).await, here.wait(&second, 1).await];
    for master in masters {
        let _: i64 = master.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    }
    here.release(&holder).await;
    let [one, other] = waiters;
    // Whichever is back first: order is promised among those that listen.
    let (one, other) = tokio::join!(
        async { granted_then_released(one, &here, &first).await },
        async { granted_then_released(other, &here, &second).await },
    );
    assert_ne!(one, other);
    redis.assert_nothing_left(&here.client).await;
}

async fn granted_then_released(
    waiter: tokio::task::JoinHandle<support::Acquired>,
    space: &Space,
    lease: &str,
) -> i64 {
    let token = granted(waiter).await;
    space.release(lease).await;
    token
}

mod one_server {
    use super::*;

    #[tokio::test]
    async fn over_tcp() {
        let redis = TestRedis::own().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }

    #[tokio::test]
    async fn over_a_unix_socket() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("redis.sock");
        let server = TestRedis::own_with(&["--unixsocket", path.to_str().unwrap()]).await;
        let url = format!("redis+unix://{}", path.display());
        let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }

    #[tokio::test]
    async fn by_a_user_of_the_least_rights() {
        let server = TestRedis::own().await;
        let url = format!("redis://grackle:secret@127.0.0.1:{}", server.port());
        let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
        let (keys, channels) = (format!("~{}:*", redis.prefix()), format!("&{}:*", redis.prefix()));
        let user = ["ACL", "SETUSER", "grackle", "reset", "on", ">secret", &keys, &channels];
        let _: () = server.run(&[&user[..], &support::RIGHTS].concat()).await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }
}

mod tls {
    use super::*;

    #[tokio::test]
    async fn with_the_authoritys_certificate() {
        let Some(server) = TlsRedis::start().await else {
            return eprintln!("skipped: this Redis was built without TLS");
        };
        let redis = server.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }

    #[tokio::test]
    async fn an_unknown_authority_is_not_trusted_and_said_so() {
        let Some(server) = TlsRedis::start().await else {
            return eprintln!("skipped: this Redis was built without TLS");
        };
        let error = Client::connect(&server.url()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

mod sentinel {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let sentinels = Sentinels::start().await;
        let redis = sentinels.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }
}

mod cluster {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &cluster.masters().await).await;
    }
}
