//! Plain semaphores, where callers hang up, servers die, answers are lost, and memory is full.

use grackle_client::wire::{AcquireOutcome, DownSemaphoreRequest, Semaphore, UpSemaphoreRequest};
use grackle_client::{Client, Error};
use serde_json::json;

use super::OUTLIVED;
use super::caller::{Caller, blocked, clear, inside, until, until_waiting, woken};
use grackle_test_support::{
    LONG, Link, SOON, ServerProcess, TestNamespace, TestRedis, TestServer, eventually,
};

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
    assert!(stops.terminate().await.success(), "{}", stops.log());
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
    let space = TestNamespace::create(far, 3).await;
    let down = DownSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        timeout_seconds: 0,
    };
    let up = UpSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
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
    let space = TestNamespace::create(redis.client().await, 1).await;
    let request = DownSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        timeout_seconds: LONG,
    };
    let up = UpSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
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
