//! Servers side by side on one Redis: they die, freeze, go silent, are told to stop.

use std::time::{Duration, Instant};

use grackle_test_support::{
    Http, Link, ServerProcess, TestNamespace, TestRedis, eventually, granted, is_acquired,
};
use serde_json::Value;
use tokio::task::JoinHandle;

/// Death by kill is seen by the next hand-off; a silent link by the end of its alive mark, 15 s on.
const AT_ONCE: Duration = Duration::from_secs(4);
const BY_MARK: Duration = Duration::from_secs(20);

type Answer = Option<(u16, Value)>;

/// An acquire through a server; it stands in the queue when this returns.
async fn wait_at(space: &TestNamespace, server: &ServerProcess, lease: &str) -> JoinHandle<Answer> {
    weigh_at(space, server, lease, 1).await
}

async fn weigh_at(
    space: &TestNamespace,
    server: &ServerProcess,
    lease: &str,
    weight: i64,
) -> JoinHandle<Answer> {
    let before = space.state().await.waiting_count;
    let (http, lease) = (Http::to(server.url()), lease.to_owned());
    let call = tokio::spawn(async move { http.acquire(&lease, weight).await });
    space.until_waiting(before + 1).await;
    call
}

async fn acquired_within(limit: Duration, call: JoinHandle<Answer>) {
    let answer = tokio::time::timeout(limit, call).await.expect("an answer in time").unwrap();
    assert!(is_acquired(&answer), "{answer:?}");
}

struct World {
    redis: TestRedis,
    space: TestNamespace,
    holder: String,
}

impl World {
    async fn new(permits: i64, held: i64) -> Self {
        let redis = TestRedis::shared().await;
        let space = TestNamespace::create(redis.client().await, permits).await;
        let holder = space.lease().await;
        space.take(&holder, held).await;
        Self { redis, space, holder }
    }

    async fn server(&self) -> ServerProcess {
        ServerProcess::start(&self.redis, &[]).await
    }

    /// Kills a server through which that lease waits; Redis has seen its connections close when this
    /// returns. A grant before that would be one to a holder that dies.
    async fn kill(&self, server: &mut ServerProcess, waiting: &str) {
        let namespace = format!("{}:{{{}}}", self.redis.prefix(), TestNamespace::NAMESPACE);
        let lease = format!("{namespace}:lease:{waiting}");
        let wait: String = self.redis.run(&["HGET", &lease, "wait:s"]).await;
        let wait: Value = serde_json::from_str(&wait).unwrap();
        let (node, _) = wait["calls"][0]["ticket"].as_str().unwrap().split_once(':').unwrap();
        let channel = format!("{namespace}:node:{node}");
        let is_subscribed = async || -> bool {
            let (_, count): (String, i64) = self.redis.run(&["PUBSUB", "NUMSUB", &channel]).await;
            count > 0
        };
        eventually("it is subscribed", AT_ONCE, async || is_subscribed().await.then_some(())).await;
        server.process().kill();
        eventually("Redis sees the death", AT_ONCE, async || {
            (!is_subscribed().await).then_some(())
        })
        .await;
    }

    async fn ends(self) {
        self.redis.assert_nothing_left(&self.space.client).await;
    }
}

#[tokio::test]
async fn a_killed_server_is_passed_over_at_once_and_its_waiter_gets_its_place_back_elsewhere() {
    let world = World::new(1, 1).await;
    let (mut dying, alive) = (world.server().await, world.server().await);
    let space = &world.space;
    let (head, next, last) = (space.lease().await, space.lease().await, space.lease().await);
    let lost = wait_at(space, &dying, &head).await;
    let second = wait_at(space, &alive, &next).await;
    let third = wait_at(space, &alive, &last).await;
    world.kill(&mut dying, &head).await;
    assert_eq!(lost.await.unwrap(), None);

    // In the very script that frees the permit.
    assert_eq!(space.release(&world.holder).await.active_holds, 1);
    acquired_within(AT_ONCE, second).await;
    // Before the third again, though it asks last: its place is the first.
    let again = wait_at(space, &alive, &head).await;
    space.release(&next).await;
    acquired_within(AT_ONCE, again).await;
    space.release(&head).await;
    acquired_within(AT_ONCE, third).await;
    world.ends().await;
}

#[tokio::test]
async fn a_killed_head_that_does_not_fit_holds_nobody_up() {
    let world = World::new(3, 2).await;
    let (mut dying, alive) = (world.server().await, world.server().await);
    let space = &world.space;
    let (heavy, light) = (space.lease().await, space.lease().await);
    let lost = weigh_at(space, &dying, &heavy, 3).await;
    world.kill(&mut dying, &heavy).await;
    assert_eq!(lost.await.unwrap(), None);
    let answer = Http::to(alive.url()).acquire(&light, 1).await;
    assert!(is_acquired(&answer), "{answer:?}");
    world.ends().await;
}

#[tokio::test]
async fn a_server_whose_link_goes_silent_is_passed_over_and_back_in_its_place_when_it_returns() {
    let world = World::new(3, 2).await;
    let link = Link::to(&world.redis).await;
    let far = ServerProcess::start_at(&link.url(), &world.redis, &[]).await;
    let near = world.server().await;
    let space = &world.space;
    let (heavy, light) = (space.lease().await, space.lease().await);
    let far_call = weigh_at(space, &far, &heavy, 3).await;
    let near_call = wait_at(space, &near, &light).await;
    link.go_silent();
    // Nobody does anything: the near server's sweep finds the mark at its end.
    acquired_within(BY_MARK, near_call).await;
    assert_eq!(space.state().await.waiting_count, 0);
    link.recover();
    space.until_waiting(1).await;
    space.release(&world.holder).await;
    space.release(&light).await;
    acquired_within(AT_ONCE * 5, far_call).await;
    world.ends().await;
}

#[tokio::test]
async fn a_server_that_was_frozen_is_back_in_its_place_when_it_goes_on() {
    let world = World::new(1, 1).await;
    let mut frozen = world.server().await;
    let space = &world.space;
    let (first, second) = (space.lease().await, space.lease().await);
    let call = wait_at(space, &frozen, &first).await;
    frozen.process().stop();
    let behind = space.wait(&second, 1).await;
    eventually("the frozen server is passed over", BY_MARK, async || {
        (space.state().await.waiting_count == 1).then_some(())
    })
    .await;
    frozen.process().cont();
    space.until_waiting(2).await;
    space.release(&world.holder).await;
    acquired_within(AT_ONCE, call).await;
    space.release(&first).await;
    granted(behind).await;
    world.ends().await;
}

#[tokio::test]
async fn a_server_told_to_stop_answers_its_waiters_at_once_and_keeps_their_places() {
    let world = World::new(1, 1).await;
    let (mut stopping, other) = (world.server().await, world.server().await);
    let space = &world.space;
    let (first, second) = (space.lease().await, space.lease().await);
    let call = wait_at(space, &stopping, &first).await;
    let behind = wait_at(space, &other, &second).await;
    let began = Instant::now();
    assert!(stopping.terminate().await.success(), "{}", stopping.log());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let (status, body) = call.await.unwrap().expect("an answer");
    assert_eq!((status, &body["code"]), (503, &Value::from("Unavailable")));
    let again = wait_at(space, &other, &first).await;
    space.release(&world.holder).await;
    acquired_within(AT_ONCE, again).await;
    space.release(&first).await;
    acquired_within(AT_ONCE, behind).await;
    world.ends().await;
}

#[tokio::test]
async fn a_server_told_to_stop_while_redis_is_frozen_answers_its_waiters_all_the_same() {
    let mut redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (holder, lease) = (space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let mut server = ServerProcess::start(&redis, &[]).await;
    let call = wait_at(&space, &server, &lease).await;
    redis.stop();
    assert!(server.terminate().await.success(), "{}", server.log());
    let (status, body) = call.await.unwrap().expect("an answer");
    assert_eq!((status, &body["code"]), (503, &Value::from("Unavailable")));
    redis.cont();
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_is_passed_over_and_keeps_its_place_for_the_grace() {
    let world = World::new(1, 1).await;
    let server = world.server().await;
    let space = &world.space;
    let (first, second) = (space.lease().await, space.lease().await);
    let call = wait_at(space, &server, &first).await;
    let behind = wait_at(space, &server, &second).await;
    call.abort();
    space.until_waiting(1).await;
    let again = wait_at(space, &server, &first).await;
    space.release(&world.holder).await;
    acquired_within(AT_ONCE, again).await;
    space.release(&first).await;
    acquired_within(AT_ONCE, behind).await;
    world.ends().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_is_forgotten_after_the_grace() {
    let world = World::new(1, 1).await;
    let server = ServerProcess::start(&world.redis, &["--hang-up-grace-seconds", "3"]).await;
    let space = &world.space;
    let lease = space.lease().await;
    let call = wait_at(space, &server, &lease).await;
    call.abort();
    let parked = format!("{}:{{ns}}:semaphore:s:parked", world.redis.prefix());
    eventually("it is parked", AT_ONCE, async || {
        let count: i64 = world.redis.run(&["ZCARD", &parked]).await;
        (count == 1).then_some(())
    })
    .await;
    eventually("it is forgotten", AT_ONCE * 2, async || {
        space.state().await;
        let count: i64 = world.redis.run(&["ZCARD", &parked]).await;
        (count == 0).then_some(())
    })
    .await;
    world.ends().await;
}
