//! The plain semaphores of `/semaphore`: through two servers, with waits, watches and names.

mod caller;
mod faults;

use std::time::{Duration, Instant};

use grackle_client::Error;
use grackle_client::wire::{
    AcquireOutcome, AcquireSemaphoreRequest, CreateSemaphoreLeaseRequest,
    ListSemaphoreHoldersRequest, ListSemaphoreLeasesRequest, ReleaseSemaphoreRequest,
    RevokeSemaphoreLeaseRequest, UpdateSemaphoreRequest,
};
use grackle_test_support::{
    Event, Events, LONG, SOON, ServerProcess, TestRedis, TestServer, eventually,
};
use serde_json::json;
use tokio::task::JoinSet;

use self::caller::{Caller, blocked, clear, inside, until, until_waiting, woken};

const NAMESPACE: &str = "http";
/// Longer than a lease lives on that stands in for a call of a node that has died.
const OUTLIVED: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread")]
async fn what_many_do_through_two_servers_adds_up() {
    const CALLERS: u64 = 32;
    let operations: u64 = std::env::var("GRACKLE_HTTP_SEMAPHORES_OPERATIONS")
        .map_or(100_000, |number| number.parse().unwrap());
    let redis = TestRedis::shared().await;
    let pods = [ServerProcess::start(&redis, &[]).await, ServerProcess::start(&redis, &[]).await];
    let first = 5;
    Caller::of(pods[0].url()).create("many", first).await;
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let caller = Caller::of(pods[number as usize % 2].url());
        callers.spawn(async move {
            let (mut rng, mut sum) = (fastrand::Rng::with_seed(number), 0);
            for _ in 0..operations / CALLERS {
                let seen = if rng.bool() {
                    sum += 1;
                    Some(caller.up("many").await)
                } else {
                    let seen = caller.down("many").await;
                    sum -= i64::from(seen.is_some());
                    seen
                };
                assert!(seen.unwrap_or_default() >= 0, "{seen:?}");
            }
            sum
        });
    }
    let sum: i64 = callers.join_all().await.into_iter().sum();
    let end = Caller::of(pods[1].url()).value("many").await;
    assert_eq!(end, first + sum);
    let client = redis.client().await;
    let shown = inside(&client, "many").await;
    assert_eq!(shown.permits - shown.active_holds, end);
    let found = shown.active_holders_count;
    assert!(found <= 1, "{found:?}");
    clear(&redis, &client, "many").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_that_wait_wake_in_order_each_at_an_up_elsewhere() {
    let redis = TestRedis::shared().await;
    let (here, there) =
        (ServerProcess::start(&redis, &[]).await, ServerProcess::start(&redis, &[]).await);
    let (here, there) = (Caller::of(here.url()), Caller::of(there.url()));
    let client = redis.client().await;
    here.create("gate", 1).await;
    assert_eq!(here.down("gate").await, Some(0));
    let (woken, mut wakes) = tokio::sync::mpsc::unbounded_channel();
    let mut waiting = JoinSet::new();
    for number in 0..100 {
        let (caller, woken) = (here.clone(), woken.clone());
        waiting.spawn(async move {
            let seen = caller.down_within("gate", LONG).await;
            woken.send((number, seen, Instant::now())).unwrap();
        });
        until_waiting(&client, "gate", number + 1).await;
    }
    let mut took = Vec::new();
    for number in 0..100 {
        let (began, seen) = (Instant::now(), there.up("gate").await);
        assert_eq!(seen, 0, "it is handed on");
        let (who, seen, at) = wakes.recv().await.unwrap();
        assert_eq!((who, seen), (number, Some(0)));
        took.push(at - began);
    }
    took.sort_unstable();
    eprintln!("from the up to the answer: median {:?}, longest {:?}", took[50], took[99]);
    assert_eq!(inside(&client, "gate").await.waiting_count, 0);
    let more = wakes.try_recv();
    assert!(more.is_err(), "one caller too many is woken: {more:?}");
    assert_eq!(there.value("gate").await, 0);
    clear(&redis, &client, "gate").await;
}

#[tokio::test]
async fn a_wait_ends_at_its_timeout() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let began = Instant::now();
    assert_eq!(caller.down_within("gate", 1).await, None);
    let found = began.elapsed();
    assert!(found >= Duration::from_secs(1), "{found:?}");
    until(&client, "gate", "nobody waits", |it| it.waiting_count == 0).await;
    assert_eq!(caller.up("gate").await, 1);
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

/// Whichever is first, the hanging up or the up. What is answered to nobody is answered all the same.
/// The leases that stand in for them are kept, and with them their places.
#[tokio::test]
async fn downs_that_wait_long_keep_their_order() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let first = blocked(&client, &caller, "gate").await;
    let second = blocked(&client, &caller, "gate").await;
    let ends = async || {
        let namespace_name = NAMESPACE.to_owned();
        let request = ListSemaphoreLeasesRequest { namespace_name, ..Default::default() };
        let leases = client.list_semaphore_leases(request).await.unwrap().leases;
        leases.iter().map(|lease| lease.expires_at).collect::<Vec<_>>()
    };
    let first_ends = ends().await;
    eventually("both are kept", OUTLIVED, async || {
        let ends = ends().await;
        let later = ends.iter().zip(&first_ends).all(|(end, first)| end > first);
        (ends.len() == 2 && later).then_some(())
    })
    .await;
    caller.up("gate").await;
    woken(first).await;
    assert!(!second.is_finished(), "one up woke both callers");
    caller.up("gate").await;
    woken(second).await;
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

/// It is shown, and no request can name it.
#[tokio::test]
async fn no_operation_accepts_a_proxy_lease() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let waiting = blocked(&client, &caller, "gate").await;
    let namespace_name = NAMESPACE.to_owned();
    let leases =
        ListSemaphoreLeasesRequest { namespace_name: namespace_name.clone(), ..Default::default() };
    let leases = client.list_semaphore_leases(leases).await.unwrap().leases;
    assert!(leases.len() == 1 && leases[0].process_id.starts_with("node/"), "{leases:?}");
    let lease_id = leases[0].lease_id.clone();
    let revoke = RevokeSemaphoreLeaseRequest {
        namespace_name: namespace_name.clone(),
        lease_id: lease_id.clone(),
    };
    let acquire = AcquireSemaphoreRequest {
        namespace_name,
        semaphore_name: "gate".to_owned(),
        lease_id,
        weight: 1,
        timeout_seconds: LONG,
        ..Default::default()
    };
    for refused in [
        client.revoke_semaphore_lease(revoke).await.map(drop),
        client.acquire_semaphore(acquire).await.map(drop),
    ] {
        assert!(
            matches!(refused, Err(Error::InvalidField { field: "lease_id", .. })),
            "{refused:?}"
        );
    }
    caller.up("gate").await;
    woken(waiting).await;
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

#[tokio::test]
async fn of_many_who_delete_it_one_is_told_what_it_was() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let caller = Caller::of(server.url());
    for round in 1..=20 {
        caller.create("gate", round).await;
        let mut deletions = JoinSet::new();
        for _ in 0..10 {
            let caller = caller.clone();
            deletions.spawn(async move { caller.send("DELETE", "/semaphore/gate", None).await });
        }
        let answers = deletions.join_all().await;
        let deleted: Vec<_> =
            answers.iter().flatten().filter(|(status, _)| *status == 200).collect();
        assert_eq!(deleted, [&(200, json!({ "name": "gate", "value": round }))]);
    }
    redis.assert_nothing_left(&redis.client().await).await;
    server.stop().await;
}

/// A down and a lease's acquire stand in one queue; neither touches what the other has.
#[tokio::test]
async fn the_lease_api_sees_it_and_shares_its_queue() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 2).await;
    caller.down("gate").await;
    caller.down("gate").await;
    let (namespace_name, semaphore_name) = (NAMESPACE.to_owned(), "gate".to_owned());
    let holders = ListSemaphoreHoldersRequest {
        namespace_name: namespace_name.clone(),
        semaphore_name: semaphore_name.clone(),
        ..Default::default()
    };
    let holders = client.list_semaphore_holders(holders).await.unwrap().holders;
    let shown: Vec<_> = holders.iter().map(|it| (&*it.lease_id, it.weight)).collect();
    assert_eq!(shown, [("ownerless", 2)]);
    let leases =
        ListSemaphoreLeasesRequest { namespace_name: namespace_name.clone(), ..Default::default() };
    let found = client.list_semaphore_leases(leases).await.unwrap().leases;
    assert!(found.is_empty(), "{found:?}");
    for refused in [
        client
            .revoke_semaphore_lease(RevokeSemaphoreLeaseRequest {
                namespace_name: namespace_name.clone(),
                lease_id: "ownerless".to_owned(),
            })
            .await
            .map(drop),
        client
            .release_semaphore(ReleaseSemaphoreRequest {
                namespace_name: namespace_name.clone(),
                semaphore_name: semaphore_name.clone(),
                lease_id: "ownerless".to_owned(),
            })
            .await
            .map(drop),
    ] {
        assert!(
            matches!(refused, Err(Error::InvalidField { field: "lease_id", .. })),
            "{refused:?}"
        );
    }
    let lease = CreateSemaphoreLeaseRequest {
        namespace_name: namespace_name.clone(),
        process_id: "p".to_owned(),
        ttl_seconds: 600,
        ..Default::default()
    };
    let lease_id = client.create_semaphore_lease(lease).await.unwrap().lease.lease_id;
    let acquire = AcquireSemaphoreRequest {
        namespace_name: namespace_name.clone(),
        semaphore_name: semaphore_name.clone(),
        lease_id: lease_id.clone(),
        weight: 2,
        timeout_seconds: LONG,
        ..Default::default()
    };
    let leased = {
        let client = client.clone();
        tokio::spawn(async move { client.acquire_semaphore(acquire).await })
    };
    until_waiting(&client, "gate", 1).await;
    let plain = blocked(&client, &caller, "gate").await;
    assert_eq!(caller.up("gate").await, 1, "too little for the head");
    assert_eq!(caller.down("gate").await, None, "others wait");
    assert_eq!(caller.up("gate").await, 0, "the lease has both");
    let answer = tokio::time::timeout(SOON, leased).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    let more = UpdateSemaphoreRequest {
        namespace_name: namespace_name.clone(),
        semaphore_name: semaphore_name.clone(),
        permits: 3,
        expected_version: 1,
        ..Default::default()
    };
    client.update_semaphore(more).await.unwrap();
    woken(plain).await;
    let revoke = RevokeSemaphoreLeaseRequest { namespace_name, lease_id };
    client.revoke_semaphore_lease(revoke).await.unwrap();
    assert_eq!(caller.value("gate").await, 2);
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

#[tokio::test]
async fn the_value_is_told_at_once_and_with_each_change_and_goes_on_where_it_was() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    assert_eq!(caller.watch("gate", None).await.status(), 404);
    caller.create("gate", 1).await;
    let is = |value: i64| json!({ "name": "gate", "value": value });
    let told = |event: Option<Event>, value| {
        let event = event.expect("an event");
        assert_eq!((event.name.as_str(), &event.data), ("message", &is(value)));
        event.id.expect("an id")
    };
    let mut events = Events::of(caller.watch("gate", None).await);
    told(events.next().await, 1);
    caller.down("gate").await;
    let id = told(events.next().await, 0);
    drop(events);
    let mut again = Events::of(caller.watch("gate", Some(&id)).await);
    assert_eq!(caller.up("gate").await, 1);
    told(again.next().await, 1);
    assert_eq!(caller.down("gate").await, Some(0));
    told(again.next().await, 0);
    let mut late = Events::of(caller.watch("gate", Some(&id)).await);
    told(late.next().await, 0);
    caller.send("DELETE", "/semaphore/gate", None).await;
    for events in [&mut again, &mut late] {
        assert_eq!(events.next().await.expect("the last").name, "deleted");
        assert_eq!(events.next().await, None);
    }
    redis.assert_nothing_left(&client).await;
    server.stop().await;
}

#[tokio::test]
async fn a_name_is_the_same_in_a_body_and_in_a_path() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let caller = Caller::of(server.url());
    for (name, path) in [
        ("up", "up"),
        ("down", "down"),
        ("value", "value"),
        ("order:7.b", "order:7.b"),
        ("ü?#& +", "%C3%BC%3F%23%26%20%2B"),
        (&"ü".repeat(64), &"%C3%BC".repeat(64)),
    ] {
        caller.create(name, 1).await;
        let again = caller.http.post(format!("{}/semaphore", caller.url));
        let again = again.header("content-type", "application/json");
        let again =
            again.body(json!({ "name": name, "value": 2 }).to_string()).send().await.unwrap();
        assert_eq!(again.status(), 303);
        let location = again.headers()["location"].to_str().unwrap().to_owned();
        let seen = caller.send("GET", &location, None).await;
        assert_eq!(seen, Some((200, json!({ "name": name, "value": 1 }))));
        assert_eq!(caller.down(name).await, Some(0));
        assert_eq!(caller.value(path).await, 0);
        let gone = caller.send("DELETE", &format!("/semaphore/{path}"), None).await;
        assert_eq!(gone, Some((200, json!({ "name": name, "value": 0 }))), "{name}");
        let gone = caller.send("DELETE", &format!("/semaphore/{path}"), None).await;
        assert_eq!(gone, Some((404, json!("semaphore not found"))));
    }
    redis.assert_nothing_left(&redis.client().await).await;
    server.stop().await;
}
