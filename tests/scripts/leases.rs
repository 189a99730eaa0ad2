//! Leases: made, looked at, refreshed, revoked; and that every hold follows its lease.

use std::time::Duration;

use grackle_client::scripts::{Message, PageStart};
use grackle_client::wire::{
    CreateSemaphoreLeaseRequest, ListSemaphoreLeasesRequest, Metadata, RevokeSemaphoreLeaseRequest,
};
use grackle_client::{Error, Limits};
use grackle_test_support::script_world::{
    DAY, MINUTE, NS, START, World, granted, lease_id, metadata, told, wanted,
};

fn assert_gone<T: std::fmt::Debug>(reply: Result<T, Error>) {
    assert!(matches!(reply, Err(Error::LeaseNotFound)), "{reply:?}");
}

fn assert_no_namespace<T: std::fmt::Debug>(reply: Result<T, Error>) {
    assert!(matches!(reply, Err(Error::NamespaceNotFound)), "{reply:?}");
}

#[tokio::test]
async fn a_lease_is_what_was_asked_for_from_now() {
    let w = World::new().await;
    w.advance(3).await;
    let labels = metadata(&[("host", "h-1"), ("empty", ""), ("odd \"/\\ é🐦", "\n")]);
    let id = lease_id("a");
    let made = w.scripts.create_lease(NS, &id, "host/pid", MINUTE, &labels).await.unwrap();
    assert_eq!((made.lease_id.as_str(), made.process_id.as_str()), (id.as_str(), "host/pid"));
    assert_eq!(made.created_at, (START + 3_000_000) * 1_000);
    assert_eq!(made.expires_at, (START + 63_000_000) * 1_000);
    assert_eq!(made.metadata, labels);
    assert_eq!(w.scripts.get_lease(NS, &id).await.unwrap(), made);
    w.advance(1).await;
    // The same id is the same call.
    let again = w.scripts.create_lease(NS, &id, "host/pid", MINUTE, &labels).await.unwrap();
    assert_eq!(again, made);
    w.end().await;
}

#[tokio::test]
async fn what_lease_operations_name_has_to_be_there() {
    let w = World::new().await;
    let (id, none) = (lease_id("a"), Metadata::new());
    assert_no_namespace(w.scripts.create_lease("other", &id, "p", DAY, &none).await);
    assert_no_namespace(w.scripts.get_lease("other", &id).await);
    assert_no_namespace(w.scripts.refresh_lease("other", &id, DAY).await);
    assert_no_namespace(w.scripts.revoke_lease("other", &id).await);
    assert_no_namespace(w.scripts.list_leases("other", "", &PageStart::First, 9).await);
    assert_gone(w.scripts.get_lease(NS, &id).await);
    assert_gone(w.scripts.refresh_lease(NS, &id, DAY).await);
    assert_gone(w.scripts.revoke_lease(NS, &id).await);
    w.end().await;
}

#[tokio::test]
async fn a_lease_that_has_expired_is_gone_and_never_revived() {
    let w = World::with(1, "z").await;
    w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let id = lease_id("a");
    w.advance(9).await;
    w.scripts.get_lease(NS, &id).await.unwrap();
    w.clock.advance(Duration::from_micros(999_999)).await;
    w.scripts.get_lease(NS, &id).await.unwrap();
    w.clock.advance(Duration::from_micros(1)).await;
    // Each of these looks at an expired lease that nobody has swept yet, or has.
    assert_gone(w.scripts.revoke_lease(NS, &id).await);
    assert_gone(w.scripts.refresh_lease(NS, &id, DAY).await);
    assert_gone(w.scripts.get_lease(NS, &id).await);
    assert_gone(w.ask(&n.call("a"), wanted(1)).await);
    assert_gone(w.scripts.release(NS, "s", &id).await);
    assert_eq!(w.picture().await, "");
    let listed = w.scripts.list_leases(NS, "", &PageStart::First, 9).await.unwrap().entries;
    assert_eq!(listed.len(), 1);
    w.end().await;
}

#[tokio::test]
async fn a_refresh_carries_every_hold_along_in_one_write() {
    let w = World::of(1).await;
    w.semaphore("t", 1).await;
    let made = w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    let before = w.state().await;
    w.advance(9).await;
    let refreshed = w.scripts.refresh_lease(NS, &lease_id("a"), MINUTE).await.unwrap();
    assert_eq!(refreshed.expires_at, (START + 69_000_000) * 1_000);
    assert_eq!(refreshed.created_at, made.created_at);
    let after = w.state().await;
    assert_eq!(after.hashes, before.hashes);
    w.advance(59).await;
    w.get().await;
    assert_eq!(w.picture().await, "holds a:1");
    assert_eq!(w.picture_of("t").await, "holds a:1");
    w.advance(1).await;
    assert_eq!(w.get().await.active_holds, 0);
    assert_eq!(w.picture_of("t").await, "");
    w.end().await;
}

/// Others' ends are the sweeps' work: they must not keep a refresh past the end of its own lease.
#[tokio::test]
async fn a_lease_is_refreshed_and_read_in_one_script_however_many_others_have_ended() {
    let w = World::with(200, "a").await;
    let n = w.node("n").await;
    for number in 0..120 {
        let lease = format!("c{number}");
        w.lease(&lease, Duration::from_secs(1)).await;
        w.take(&n.call(&lease), 1).await;
    }
    // From here on Redis knows both scripts.
    w.scripts.refresh_lease(NS, &lease_id("a"), MINUTE).await.unwrap();
    w.scripts.get_lease(NS, &lease_id("a")).await.unwrap();
    w.advance(1).await;
    let monitor = w.monitor().await;
    w.scripts.refresh_lease(NS, &lease_id("a"), MINUTE).await.unwrap();
    w.scripts.get_lease(NS, &lease_id("a")).await.unwrap();
    assert_gone(w.scripts.refresh_lease(NS, &lease_id("c0"), MINUTE).await);
    assert_gone(w.scripts.get_lease(NS, &lease_id("c0")).await);
    assert_eq!(w.scripts_run(monitor).await, 4);
    assert_eq!(w.state().await.zset(":leases").len(), 121, "the others are left to the sweeps");
    w.sweep("n").await;
    assert_eq!(w.state().await.zset(":leases").len(), 1);
    w.end().await;
}

#[tokio::test]
async fn a_refresh_may_shorten() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    let refreshed = w.scripts.refresh_lease(NS, &lease_id("a"), Duration::from_secs(2)).await;
    assert_eq!(refreshed.unwrap().expires_at, (START + 2_000_000) * 1_000);
    w.advance(2).await;
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&call])]);
    w.end().await;
}

#[tokio::test]
async fn whatever_brings_the_next_expiry_forward_is_said_to_the_nodes_that_wait() {
    let w = World::new().await;
    let mut subscription = w.announcements().await;
    let mut said = async || {
        let messages = subscription.messages().await.into_iter();
        let sweep = |message| match message {
            Message::Sweep { sweep_in } => sweep_in,
            other => panic!("{other:?}"),
        };
        messages.map(sweep).collect::<Vec<_>>()
    };
    w.lease("a", MINUTE).await;
    assert_eq!(said().await, [60_000_000]);
    w.lease("b", MINUTE * 2).await;
    assert_eq!(said().await, Vec::<i64>::new());
    w.lease("c", MINUTE / 2).await;
    assert_eq!(said().await, [30_000_000]);
    w.scripts.refresh_lease(NS, &lease_id("c"), DAY).await.unwrap();
    w.scripts.refresh_lease(NS, &lease_id("b"), MINUTE * 3).await.unwrap();
    w.scripts.refresh_lease(NS, &lease_id("b"), MINUTE * 2).await.unwrap();
    assert_eq!(said().await, Vec::<i64>::new());
    w.advance(10).await;
    w.scripts.refresh_lease(NS, &lease_id("b"), MINUTE / 4).await.unwrap();
    assert_eq!(said().await, [15_000_000]);
    w.end().await;
}

#[tokio::test]
async fn a_revoke_releases_all_at_once() {
    let w = World::with(2, "a b c").await;
    w.semaphore("t", 2).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    w.take(&n.call_on("t", "a"), 1).await;
    w.take(&n.call_on("t", "b"), 1).await;
    let waits = n.call_on("t", "a");
    w.queue(&waits, 2).await;
    let (on_s, on_t) = (n.call("b"), n.call_on("t", "c"));
    w.queue(&on_s, 1).await;
    w.queue(&on_t, 1).await;
    w.revoke("a").await;
    let mut received = n.received().await;
    received.sort();
    let mut right =
        [told("NO_LEASE lease not found", &[&waits]), granted(&[&on_s]), granted(&[&on_t])];
    right.sort();
    assert_eq!(received, right);
    assert_eq!(w.picture().await, "holds b:1");
    assert_eq!(w.picture_of("t").await, "holds b:1 c:1");
    assert_gone(w.scripts.revoke_lease(NS, &lease_id("a")).await);
    assert_gone(w.scripts.get_lease(NS, &lease_id("a")).await);
    w.end().await;
}

#[tokio::test]
async fn a_lease_that_is_being_revoked_is_gone_before_all_is_cleared_away() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    // What the first step of a revoke that was cut short leaves behind.
    let leases = format!("{}:leases", w.namespace());
    let _: i64 = w.redis.run(&["ZADD", &leases, "0", &lease_id("a")]).await;
    assert_gone(w.scripts.get_lease(NS, &lease_id("a")).await);
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&call])]);
    let _: i64 = w.redis.run(&["ZADD", &leases, "0", &lease_id("b")]).await;
    w.revoke("b").await;
    assert_eq!(w.picture().await, "");
    w.end().await;
}

#[tokio::test]
async fn the_end_of_one_lease_touches_no_other_hold() {
    let w = World::with(3, "a b").await;
    w.lease("c", Duration::from_secs(1)).await;
    let n = w.node("n").await;
    for lease in ["a", "b", "c"] {
        w.take(&n.call(lease), 1).await;
    }
    w.revoke("a").await;
    w.advance(1).await;
    assert_eq!(w.get().await.active_holders_count, 1);
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}

#[tokio::test]
async fn a_namespace_has_no_more_leases_than_its_limit() {
    let mut limits = Limits::default();
    limits.max_leases = 2;
    let w = World::with_limits(limits).await;
    w.lease("a", Duration::from_secs(5)).await;
    w.lease("b", DAY).await;
    let none = Metadata::new();
    let refused = w.scripts.create_lease(NS, &lease_id("c"), "p", DAY, &none).await;
    assert_eq!(refused.unwrap_err().to_string(), "limit reached: max_leases");
    // Asked again, a lease that is there is no further one.
    w.lease("b", DAY).await;
    w.advance(5).await;
    w.lease("c", DAY).await;
    w.end().await;
}

#[tokio::test]
async fn a_process_may_call_itself_anything() {
    let w = World::of(1).await;
    let n = w.node("n").await;
    let long = "x".repeat(10_000);
    let names = [
        "{",
        "}",
        "{}",
        "a:b:c",
        "host-123/pid-4567",
        "\n\r\t\0",
        "\"quote\"",
        "né 🐦",
        "%s",
        &long,
    ];
    for (index, process_id) in names.into_iter().enumerate() {
        let (short, none) = (format!("l{index}"), Metadata::new());
        let id = lease_id(&short);
        let made = w.scripts.create_lease(NS, &id, process_id, DAY, &none).await.unwrap();
        w.check().await;
        assert_eq!(made.process_id, process_id);
        assert_eq!(w.scripts.get_lease(NS, &id).await.unwrap(), made);
        let listed = w.scripts.list_leases(NS, process_id, &PageStart::First, 9).await.unwrap();
        assert_eq!(listed.entries, [made]);
        w.take(&n.call(&short), 1).await;
        w.revoke(&short).await;
        let listed = w.scripts.list_leases(NS, process_id, &PageStart::First, 9).await.unwrap();
        let found = &listed.entries;
        assert!(found.is_empty(), "{found:?}");
    }
    w.end().await;
}

#[tokio::test]
async fn a_process_id_has_1_to_256_bytes() {
    let w = World::new().await;
    let client = w.redis.client_on_test_clock().await;
    let create = async |process_id: String| {
        let namespace_name = NS.to_owned();
        let request = CreateSemaphoreLeaseRequest {
            namespace_name,
            process_id,
            ttl_seconds: 60,
            ..Default::default()
        };
        client.create_semaphore_lease(request).await
    };
    for process_id in ["x".to_owned(), "y".repeat(256), "ä".repeat(128), "🐦".repeat(64)] {
        let made = create(process_id.clone()).await.unwrap().lease;
        w.check().await;
        let (namespace_name, lease_id) = (NS.to_owned(), made.lease_id.clone());
        let request = ListSemaphoreLeasesRequest {
            namespace_name: namespace_name.clone(),
            process_id,
            ..Default::default()
        };
        assert_eq!(client.list_semaphore_leases(request).await.unwrap().leases, [made]);
        let request = RevokeSemaphoreLeaseRequest { namespace_name, lease_id };
        client.revoke_semaphore_lease(request).await.unwrap();
    }
    for process_id in [String::new(), "y".repeat(257), "🐦".repeat(64) + "z"] {
        let refused = create(process_id).await;
        assert!(
            matches!(refused, Err(Error::InvalidField { field: "process_id", .. })),
            "{refused:?}"
        );
    }
    w.end().await;
}

#[tokio::test]
async fn lives_and_holds_go_by_a_clock_that_jumps_back() {
    let w = World::of(2).await;
    w.lease("a", MINUTE).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.clock.set(START - 20_000_000).await;
    let later = w.lease("b", MINUTE).await;
    assert_eq!(later.created_at, (START - 20_000_000) * 1_000);
    w.take(&n.call("b"), 1).await;
    let semaphore = w.get().await;
    assert_eq!(semaphore.last_activity_at, (START - 20_000_000) * 1_000);
    assert_eq!(semaphore.active_holds, 2);
    w.advance(59).await;
    let refreshed = w.scripts.refresh_lease(NS, &lease_id("b"), MINUTE).await.unwrap();
    assert_eq!(refreshed.expires_at, (START + 99_000_000) * 1_000);
    w.advance(21).await;
    w.get().await;
    assert_eq!(w.picture().await, "holds b:1");
    w.end().await;
}
