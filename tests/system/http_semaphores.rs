//! The plain semaphores of `/semaphore`: through two servers, with waits, deaths and lost answers.

use std::time::{Duration, Instant};

use crate::support::{
    Event, Events, LONG, Link, SOON, ServerProcess, Space, TestRedis, TestServer, eventually,
};
use grackle_client::types::{
    AcquireOutcome, AcquireSemaphoreRequest, CreateSemaphoreLeaseRequest, DownSemaphoreRequest,
    GetSemaphoreRequest, ListSemaphoreHoldersRequest, ListSemaphoreLeasesRequest,
    ReleaseSemaphoreRequest, RevokeSemaphoreLeaseRequest, Semaphore, UpSemaphoreRequest,
    UpdateSemaphoreRequest,
};
use grackle_client::{Client, Error};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};

const NAMESPACE: &str = "http";
/// Longer than a lease lives on that stands in for a call of a node that has died.
const OUTLIVED: Duration = Duration::from_secs(40);

/// A caller of one server.
#[derive(Clone)]
struct Caller {
    http: reqwest::Client,
    url: String,
}

impl Caller {
    fn of(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy();
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, url: url.to_owned() }
    }

    /// Status and body; none where the connection broke.
    async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Option<(u16, Value)> {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.url));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    async fn create(&self, name: &str, value: i64) {
        let body = json!({ "name": name, "value": value });
        let made = self.send("POST", "/semaphore", Some(body.clone())).await;
        assert_eq!(made, Some((200, body)));
    }

    async fn up(&self, name: &str) -> i64 {
        let answer = self.send("POST", "/semaphore/up", Some(json!({ "name": name }))).await;
        value(answer).unwrap()
    }

    /// The value after it, or none where it is locked.
    async fn down(&self, name: &str) -> Option<i64> {
        self.down_within(name, 0).await
    }

    async fn down_within(&self, name: &str, timeout_seconds: i64) -> Option<i64> {
        let body = json!({ "name": name, "timeout_seconds": timeout_seconds });
        value(self.send("POST", "/semaphore/down", Some(body)).await)
    }

    async fn value(&self, name: &str) -> i64 {
        value(self.send("GET", &format!("/semaphore/value/{name}"), None).await).unwrap()
    }

    /// How many downs the server has ended with that code.
    async fn downs(&self, code: &str) -> u64 {
        let answer = self.http.get(format!("{}/metrics", self.url)).send().await.unwrap();
        let metrics = answer.text().await.unwrap();
        let line = format!(
            r#"grackle_http_requests_total{{operation="DownHttpSemaphore",code="{code}"}} "#
        );
        let count = metrics.lines().find_map(|metric| metric.strip_prefix(&line));
        count.map_or(0, |count| count.parse().unwrap())
    }

    /// Waits until the server has ended so many: it sees a hang-up when it gets round to it.
    async fn until_ended(&self, downs: u64) {
        eventually("the server has ended the down", SOON, async || {
            let ended = self.downs("OK").await + self.downs("Cancelled").await;
            (ended == downs).then_some(())
        })
        .await;
    }

    async fn watch(&self, name: &str, last_seen: Option<&str>) -> reqwest::Response {
        let request = self.http.get(format!("{}/semaphore/watch/{name}", self.url));
        let request = match last_seen {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        request.send().await.unwrap()
    }
}

fn value(answer: Option<(u16, Value)>) -> Option<i64> {
    match answer.expect("an answer") {
        (200, body) => Some(body["value"].as_i64().unwrap()),
        (409, text) if text == "Semaphore locked" => None,
        other => panic!("{other:?}"),
    }
}

/// What the API shows of such a semaphore.
async fn inside(client: &Client, name: &str) -> Semaphore {
    let (namespace_name, semaphore_name) = (NAMESPACE.to_owned(), name.to_owned());
    let request = GetSemaphoreRequest { namespace_name, semaphore_name };
    client.get_semaphore(request).await.unwrap().semaphore
}

async fn until(client: &Client, name: &str, what: &str, is_so: impl Fn(&Semaphore) -> bool) {
    eventually(what, SOON, async || is_so(&inside(client, name).await).then_some(())).await;
}

async fn until_waiting(client: &Client, name: &str, count: i64) {
    until(client, name, &format!("{count} wait"), |it| it.waiting_count == count).await;
}

/// A down that has to wait; it stands in the queue when this returns.
async fn blocked(client: &Client, caller: &Caller, name: &str) -> JoinHandle<Option<i64>> {
    let before = inside(client, name).await.waiting_count;
    let (caller, of) = (caller.clone(), name.to_owned());
    let call = tokio::spawn(async move { caller.down_within(&of, LONG).await });
    until_waiting(client, name, before + 1).await;
    call
}

async fn woken(call: JoinHandle<Option<i64>>) {
    let answer = tokio::time::timeout(SOON, call).await.expect("in time").unwrap();
    assert!(answer.is_some());
}

/// Gives back what is down, and ends with nothing left.
async fn clear(redis: &TestRedis, client: &Client, name: &str) {
    let caller_of = UpSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: name.to_owned(),
    };
    while inside(client, name).await.active_holds > 0 {
        client.up_semaphore(caller_of.clone()).await.unwrap();
    }
    redis.assert_nothing_left(client).await;
}

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
    assert!(shown.active_holders_count <= 1);
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
    assert!(wakes.try_recv().is_err());
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
    assert!(began.elapsed() >= Duration::from_secs(1));
    until(&client, "gate", "nobody waits", |it| it.waiting_count == 0).await;
    assert_eq!(caller.up("gate").await, 1);
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_leaves_the_queue() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let gone = blocked(&client, &caller, "gate").await;
    let next = blocked(&client, &Caller::of(server.url()), "gate").await;
    gone.abort();
    until_waiting(&client, "gate", 1).await;
    caller.up("gate").await;
    woken(next).await;
    assert_eq!(caller.up("gate").await, 1);
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

/// Whichever is first, the hanging up or the up. What is answered to nobody is answered all the same.
#[tokio::test]
async fn a_hand_off_that_crosses_with_the_hanging_up_is_undone() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    let mut crossed = 0;
    for round in 1..=50 {
        assert_eq!(caller.down("gate").await, Some(0));
        let answered_before = caller.downs("OK").await;
        let gone = blocked(&client, &Caller::of(server.url()), "gate").await;
        let up = {
            let caller = caller.clone();
            tokio::spawn(async move { caller.up("gate").await })
        };
        tokio::task::yield_now().await;
        gone.abort();
        up.await.unwrap();
        let _ = gone.await;
        caller.until_ended(2 * round).await;
        let answered = caller.downs("OK").await > answered_before;
        crossed += i32::from(!answered);
        if answered {
            caller.up("gate").await;
        }
        until(&client, "gate", "it is free again", |it| it.active_holds == 0).await;
        assert_eq!(caller.value("gate").await, 1);
    }
    assert!(crossed > 0, "none of them hung up in time");
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_takes_no_value_with_it() {
    let redis = TestRedis::shared().await;
    let mut dies = ServerProcess::start(&redis, &[]).await;
    let lives = ServerProcess::start(&redis, &[]).await;
    let (at_it, caller, client) =
        (Caller::of(dies.url()), Caller::of(lives.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let dead = {
        let at_it = at_it.clone();
        let body = json!({ "name": "gate", "timeout_seconds": LONG });
        tokio::spawn(async move { at_it.send("POST", "/semaphore/down", Some(body)).await })
    };
    until_waiting(&client, "gate", 1).await;
    // Frozen, it counts as alive: it is handed the permit, and dies before it has answered.
    dies.process().stop();
    assert_eq!(caller.up("gate").await, 0);
    let next = blocked(&client, &caller, "gate").await;
    dies.process().kill();
    assert_eq!(dead.await.unwrap(), None);
    let answer = tokio::time::timeout(OUTLIVED, next).await.expect("its lease ends").unwrap();
    assert_eq!(answer, Some(0));
    assert_eq!(caller.up("gate").await, 1);
    clear(&redis, &client, "gate").await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_answers_those_who_wait_and_leaves_nothing() {
    let redis = TestRedis::shared().await;
    let mut stops = ServerProcess::start(&redis, &[]).await;
    let (caller, client) = (Caller::of(stops.url()), redis.client().await);
    caller.create("gate", 1).await;
    caller.down("gate").await;
    let waiting = {
        let caller = caller.clone();
        let body = json!({ "name": "gate", "timeout_seconds": LONG });
        tokio::spawn(async move { caller.send("POST", "/semaphore/down", Some(body)).await })
    };
    until_waiting(&client, "gate", 1).await;
    assert!(stops.terminate().await.success());
    let answer = waiting.await.unwrap().expect("an answer");
    assert_eq!(answer, (503, json!("unavailable: this node shuts down: ask another")));
    until(&client, "gate", "nobody waits", |it| it.waiting_count == 0).await;
    clear(&redis, &client, "gate").await;
}

/// That Redis knows the scripts is an answer, too.
async fn knows_its_scripts(caller: &Caller) {
    caller.down("gate").await;
    caller.up("gate").await;
}

#[tokio::test]
async fn what_redis_did_though_its_answer_was_lost_is_done_once() {
    let redis = TestRedis::own().await;
    let link = Link::to(&redis).await;
    let server = ServerProcess::start_at(&link.url(), &redis, &[]).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 3).await;
    knows_its_scripts(&caller).await;
    for (path, before, after) in [("down", 3, 2), ("up", 2, 3)] {
        link.hold_replies();
        let call = {
            let caller = caller.clone();
            let path = format!("/semaphore/{path}");
            let body = json!({ "name": "gate" });
            tokio::spawn(async move { caller.send("POST", &path, Some(body)).await })
        };
        let value = |it: &Semaphore| it.permits - it.active_holds;
        until(&client, "gate", "Redis has done it", |it| value(it) == after).await;
        assert_ne!(before, after);
        link.cut();
        link.recover();
        let answer = call.await.unwrap();
        assert_eq!(answer, Some((200, json!({ "name": "gate", "value": after }))), "{path}");
        assert_eq!(value(&inside(&client, "gate").await), after, "{path}, once");
    }
    clear(&redis, &client, "gate").await;
}

#[tokio::test]
async fn a_full_memory_refuses_a_down_and_nothing_that_gives_back_or_is_done_already() {
    let redis = TestRedis::own().await;
    let link = Link::to(&redis).await;
    let mut config = redis.config();
    config.redis_url = link.url();
    let far = Client::connect_with(config).await.unwrap();
    let space = Space::create(far, 3).await;
    let down = DownSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: Space::SEMAPHORE.to_owned(),
        timeout_seconds: 0,
    };
    let up = UpSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: Space::SEMAPHORE.to_owned(),
    };
    let limit = async |bytes: &str| {
        let _: () = redis.run(&["CONFIG", "SET", "maxmemory", bytes]).await;
    };
    space.client.down_semaphore(down.clone()).await.unwrap();
    space.client.up_semaphore(up.clone()).await.unwrap();
    space.client.down_semaphore(down.clone()).await.unwrap();
    limit("1").await;
    let refused = space.client.down_semaphore(down.clone()).await.unwrap_err();
    assert!(matches!(refused, Error::ResourceExhausted { .. }), "{refused:?}");
    assert_eq!(space.client.up_semaphore(up.clone()).await.unwrap().semaphore.active_holds, 0);
    limit("0").await;
    // Taken, and its answer lost; then the memory is full.
    let near = space.through(redis.client().await);
    link.hold_replies();
    let (client, again) = (space.client.clone(), down.clone());
    let call = tokio::spawn(async move { client.down_semaphore(again).await });
    eventually("it is taken", SOON, async || (near.state().await.active_holds == 1).then_some(()))
        .await;
    limit("1").await;
    link.cut();
    link.recover();
    assert_eq!(call.await.unwrap().unwrap().outcome, AcquireOutcome::Acquired);
    limit("0").await;
    assert_eq!(space.client.up_semaphore(up).await.unwrap().semaphore.active_holds, 0);
    redis.assert_nothing_left(&space.client).await;
}

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
    assert!(!second.is_finished());
    caller.up("gate").await;
    woken(second).await;
    clear(&redis, &client, "gate").await;
    server.stop().await;
}

/// It is shown, and no request can name it.
#[tokio::test]
async fn nobody_else_can_do_anything_with_a_lease_that_stands_in() {
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
        assert!(matches!(refused, Err(Error::InvalidField { field: "lease_id", .. })));
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

#[tokio::test]
async fn a_down_whose_caller_left_before_its_answer_came_is_given_back() {
    let redis = TestRedis::own().await;
    let link = Link::to(&redis).await;
    let server = ServerProcess::start_at(&link.url(), &redis, &[]).await;
    let (caller, client) = (Caller::of(server.url()), redis.client().await);
    caller.create("gate", 1).await;
    knows_its_scripts(&caller).await;
    link.hold_replies();
    let call = {
        let caller = Caller::of(server.url());
        tokio::spawn(async move { caller.down("gate").await })
    };
    until(&client, "gate", "it is taken", |it| it.active_holds == 1).await;
    call.abort();
    caller.until_ended(2).await;
    link.recover();
    until(&client, "gate", "it is given back", |it| it.active_holds == 0).await;
    assert_eq!(caller.value("gate").await, 1);
    clear(&redis, &client, "gate").await;
}

#[tokio::test]
async fn in_rust_a_dropped_down_takes_nothing() {
    let redis = TestRedis::shared().await;
    let space = Space::create(redis.client().await, 1).await;
    let request = DownSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: Space::SEMAPHORE.to_owned(),
        timeout_seconds: LONG,
    };
    let up = UpSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: Space::SEMAPHORE.to_owned(),
    };
    let taken = space.client.down_semaphore(request.clone()).await.unwrap();
    assert_eq!((taken.outcome, taken.semaphore.active_holds), (AcquireOutcome::Acquired, 1));
    let (client, again) = (space.client.clone(), request.clone());
    let waiting = tokio::spawn(async move { client.down_semaphore(again).await });
    space.until_waiting(1).await;
    waiting.abort();
    space.until_waiting(0).await;
    assert_eq!(space.client.up_semaphore(up.clone()).await.unwrap().semaphore.active_holds, 0);
    // Dropped at each poll, before anything is known.
    for polls in 1..20 {
        let mut call = Box::pin(space.client.down_semaphore(request.clone()));
        let mut answered = None;
        for _ in 0..polls {
            if let std::task::Poll::Ready(answer) = futures_util::poll!(&mut call) {
                answered = Some(answer.unwrap());
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(call);
        if answered.is_some() {
            space.client.up_semaphore(up.clone()).await.unwrap();
        }
        eventually("nothing is taken", SOON, async || {
            (space.state().await.active_holds == 0).then_some(())
        })
        .await;
        assert_eq!(space.state().await.permits, 1, "after {polls} polls");
    }
    redis.assert_nothing_left(&space.client).await;
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
    assert!(client.list_semaphore_leases(leases).await.unwrap().leases.is_empty());
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
        assert!(matches!(refused, Err(Error::InvalidField { field: "lease_id", .. })));
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
