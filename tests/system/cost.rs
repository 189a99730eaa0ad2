//! What Grackle asks of Redis: round trips, connections, commands while nothing happens.

use std::time::Duration;

use grackle_client::wire::{AcquireOutcome, AcquireSemaphoreRequest};
use grackle_test_support::{LONG, OwnRedis, TestNamespace, TestRedis, eventually, granted};
use tokio::task::JoinSet;

/// All waiters wait for the same permit, or each for one of its own.
async fn crowd(space: &TestNamespace, count: usize) -> JoinSet<()> {
    let holder = space.lease().await;
    space.take(&holder, 1).await;
    let mut waiters = JoinSet::new();
    for _ in 0..count {
        let (space, lease) = (space.clone(), space.lease().await);
        waiters.spawn(async move {
            let _ = space.acquire(&lease, 1, LONG).await;
        });
    }
    space.until_waiting(i64::try_from(count).unwrap()).await;
    waiters
}

async fn total_commands(redis: &OwnRedis) -> u64 {
    let info: String = redis.run(&["INFO", "stats"]).await;
    let total = info.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
    total.unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_uncontended_acquire_is_one_evalsha_and_so_is_its_release() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 10).await;
    let lease = space.lease().await;
    // The first of each loads the script.
    space.take(&lease, 1).await;
    space.release(&lease).await;
    for timeout in [0, LONG] {
        let monitor = redis.monitor().await;
        let answer = space.acquire(&lease, 3, timeout).await.unwrap();
        assert_eq!(answer.outcome, AcquireOutcome::Acquired);
        space.release(&lease).await;
        let commands = monitor.finish().await;
        assert_eq!(commands.len(), 2, "{commands:#?}");
        let scripts_only = commands.iter().all(|command| command.starts_with("\"EVALSHA\""));
        assert!(scripts_only, "{commands:#?}");
    }
}

#[tokio::test]
async fn fifty_blocked_acquires_cost_redis_at_most_two_commands_a_second() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let waiters = crowd(&space, 50).await;
    let seconds = 12;
    let before = total_commands(&redis).await;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    // INFO itself counts once; what scripts run inside counts too.
    let commands = total_commands(&redis).await - before - 1;
    assert!(commands <= 2 * seconds, "{commands} commands in {seconds} s");
    assert_eq!(waiters.len(), 50);
}

#[tokio::test]
async fn a_thousand_blocked_acquires_use_the_connections_of_one() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let one = crowd(&space, 1).await;
    let connections = redis.connected_clients().await;
    drop(one);
    space.until_waiting(0).await;
    let mut thousand = JoinSet::new();
    for _ in 0..1_000 {
        let (space, lease) = (space.clone(), space.lease().await);
        thousand.spawn(async move { space.acquire(&lease, 1, LONG).await });
    }
    space.until_waiting(1_000).await;
    assert_eq!(redis.connected_clients().await, connections);
    assert_eq!(connections, 2, "one for commands, one for wake-ups");
}

#[tokio::test]
async fn five_thousand_names_waited_for_at_once_use_the_same_two_connections() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (holder, names) = (space.lease().await, 5_000);
    let mut waiters = Vec::new();
    for index in 0..names {
        let name = format!("n{index}");
        space.semaphore(&name, 1).await;
        let held = space.acquire_on(&name, &holder, 1, 0).await.unwrap();
        assert_eq!(held.outcome, AcquireOutcome::Acquired);
        let (space, lease) = (space.clone(), space.lease().await);
        waiters.push(tokio::spawn(async move { space.acquire_on(&name, &lease, 1, LONG).await }));
    }
    eventually("all wait", Duration::from_secs(20), async || {
        let last = space.state_of(&format!("n{}", names - 1)).await;
        (last.waiting_count == 1).then_some(())
    })
    .await;
    assert_eq!(redis.connected_clients().await, 2);
    let request = grackle_client::wire::RevokeSemaphoreLeaseRequest {
        namespace_name: TestNamespace::NAMESPACE.to_owned(),
        lease_id: holder,
    };
    space.client.revoke_semaphore_lease(request).await.unwrap();
    for waiter in waiters {
        granted(waiter).await;
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn an_admission_costs_a_script_to_queue_and_one_to_release() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let mut holder = space.lease().await;
    // The first of each loads the script.
    space.take(&holder, 1).await;
    space.release(&holder).await;
    space.take(&holder, 1).await;
    let mut waiting = Vec::new();
    for _ in 0..100 {
        let lease = space.lease().await;
        waiting.push((lease.clone(), space.wait(&lease, 1).await));
    }
    let (before, monitor) = (redis.command_calls().await, redis.monitor().await);
    for (lease, waiter) in waiting {
        space.release(&holder).await;
        granted(waiter).await;
        holder = lease;
    }
    let commands = monitor.finish().await;
    // EVALSHA, the script, the number of keys, the namespace; of a release then semaphore and lease,
    // of a sweep, which the node makes each 5 s meanwhile, the node.
    let words = |command: &&String| command.split(' ').count();
    let releases = commands.iter().filter(|command| words(command) == 6).count();
    let sweeps = commands.iter().filter(|command| words(command) == 5).count();
    assert_eq!((releases, commands.len()), (100, 100 + sweeps), "{commands:#?}");
    let messages = redis.command_calls().await.since(&before).of("publish");
    assert_eq!(messages, 100, "one message a grant");
}

#[tokio::test]
async fn a_refusal_costs_more_only_where_it_is_asked_to_say_why() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let waiters = crowd(&space, 3).await;
    let lease = space.lease().await;
    let cost = async |explain| {
        let request = AcquireSemaphoreRequest {
            namespace_name: space.namespace.clone(),
            semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
            lease_id: lease.clone(),
            weight: 1,
            explain,
            ..Default::default()
        };
        let before = redis.command_calls().await;
        let answer = space.client.acquire_semaphore(request).await.unwrap();
        assert_eq!(answer.outcome, AcquireOutcome::Unavailable);
        let calls = redis.command_calls().await.since(&before);
        let commands =
            ["hmget", "hget", "zrange", "zscore", "zcount", "zrank", "zadd", "zrem", "hset"];
        commands.map(|command| calls.of(command))
    };
    // The semaphore, twice hold and wait, the head's wait, the queue's counts; what is due twice and
    // the head twice; the lease and the head's lease; the time of the attempt.
    assert_eq!(cost(false).await, [5, 0, 4, 2, 1, 0, 0, 0, 1]);
    // The drain; a holder; the holders; whether it stands there; how many are before its place and at
    // it, without a write.
    assert_eq!(cost(true).await, [6, 1, 6, 4, 3, 0, 0, 0, 1]);
    drop(waiters);
}
