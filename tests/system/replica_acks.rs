//! Grants that wait for replicas: what is said of them, and that nothing waits for ever.

use std::time::Duration;

use grackle_client::wire::{AcquireOutcome, AcquireSemaphoreResponse};
use grackle_test_support::{
    FOR_EVER, Http, LONG, Replicas, SOON, ServerProcess, TestNamespace, eventually, is_acquired,
};
use tokio::task::JoinSet;

/// What a frozen replica costs each grant.
const BRIEFLY: Duration = Duration::from_millis(300);

async fn acquire(space: &TestNamespace, timeout: i64) -> AcquireSemaphoreResponse {
    let lease = space.lease().await;
    let answer = tokio::time::timeout(SOON, space.acquire(&lease, 1, timeout)).await;
    answer.expect("an answer in time").expect("no error")
}

#[tokio::test]
async fn a_grant_says_how_many_replicas_have_it() {
    let redis = Replicas::start(2).await;
    let space = TestNamespace::create(redis.client_waiting_for(2, FOR_EVER).await, 2).await;
    let answer = acquire(&space, LONG).await;
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(2)));
    assert_eq!(acquire(&space, 0).await.acked_replicas, Some(2));
    let refused = acquire(&space, 0).await;
    assert_eq!((refused.outcome, refused.acked_replicas), (AcquireOutcome::Unavailable, None));
    let late = acquire(&space, 1).await;
    assert_eq!((late.outcome, late.acked_replicas), (AcquireOutcome::TimedOut, None));
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn who_does_not_ask_is_not_told() {
    let redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let answer = acquire(&space, 0).await;
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, None));
    assert_eq!(redis.master().command_calls().await.of("wait"), 0);
}

#[tokio::test]
async fn a_waiter_that_is_handed_permits_gets_its_count() {
    let redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client_waiting_for(1, FOR_EVER).await, 1).await;
    let (holder, next) = (space.lease().await, space.lease().await);
    space.take(&holder, 1).await;
    let waiter = space.wait(&next, 1).await;
    space.release(&holder).await;
    let answer = tokio::time::timeout(SOON, waiter).await.unwrap().unwrap().unwrap();
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(1)));
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_frozen_replica_is_not_waited_for_longer_than_said() {
    let mut redis = Replicas::start(2).await;
    let space = TestNamespace::create(redis.client_waiting_for(2, BRIEFLY).await, 9).await;
    redis.freeze(0);
    redis.freeze(1);
    let answer = acquire(&space, 0).await;
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(0)));
    redis.thaw(1);
    let patient = space.through(redis.client_waiting_for(1, FOR_EVER).await);
    assert_eq!(acquire(&patient, 0).await.acked_replicas, Some(1), "one is back");
    assert_eq!(acquire(&space, 0).await.acked_replicas, Some(1), "of the two asked for");
    assert_eq!(space.state().await.active_holds, 3, "all of them hold");
    redis.thaw(0);
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn where_nobody_replicates_a_grant_is_a_grant() {
    let redis = Replicas::start(0).await;
    let space = TestNamespace::create(redis.client_waiting_for(1, BRIEFLY).await, 1).await;
    let answer = acquire(&space, 0).await;
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(0)));
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn dropped_while_it_waits_for_replicas_an_acquire_leaves_nothing() {
    let mut redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client_waiting_for(1, FOR_EVER).await, 1).await;
    redis.freeze(0);
    let dropped = {
        let (space, lease) = (space.clone(), space.lease().await);
        tokio::spawn(async move { space.acquire(&lease, 1, LONG).await })
    };
    // Asked through the same client: its commands are not held up by the WAIT.
    let held = async |count| {
        eventually("so much is held", SOON, async || {
            (space.state().await.active_holds == count).then_some(())
        })
        .await;
    };
    held(1).await;
    let next = space.through(redis.client().await);
    let next_lease = space.lease().await;
    let waiter = next.wait(&next_lease, 1).await;
    dropped.abort();
    let error = dropped.await.unwrap_err();
    assert!(error.is_cancelled(), "{error:?}");
    grackle_test_support::granted(waiter).await;
    next.release(&next_lease).await;
    held(0).await;
    redis.thaw(0);
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_at_the_same_time_share_their_waits() {
    let redis = Replicas::start(1).await;
    let (count, space) = (300, redis.client_waiting_for(1, FOR_EVER).await);
    let space = TestNamespace::create(space, 300).await;
    let mut leases = Vec::new();
    for _ in 0..count {
        leases.push(space.lease().await);
    }
    let before = redis.master().command_calls().await;
    let mut calls = JoinSet::new();
    for lease in leases {
        let space = space.clone();
        calls.spawn(async move { space.acquire(&lease, 1, 0).await.unwrap().acked_replicas });
    }
    let acked = calls.join_all().await;
    assert_eq!(acked, vec![Some(1); count]);
    let waits = redis.master().command_calls().await.since(&before).of("wait");
    // Ten grants a WAIT at the least; each alone would have one of its own.
    assert!((1..=count as u64 / 10).contains(&waits), "{waits} WAITs for {count} grants");
    eprintln!("{waits} WAITs for {count} grants");
    let clients = redis.master().connected_clients().await;
    assert_eq!(clients, 3, "the replica, the commands, the WAITs");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_server_says_it_in_the_answer_where_it_was_told_to_wait() {
    let redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client().await, 9).await;
    for (flags, acked) in [(vec!["--ack-replicas", "1"], Some(1)), (vec![], None)] {
        let server = ServerProcess::start(&redis, &flags).await;
        let answer = Http::to(server.url()).acquire(&space.lease().await, 1).await;
        assert!(is_acquired(&answer), "{answer:?}");
        let (_, answer) = answer.unwrap();
        assert_eq!(answer.get("acked_replicas").map(|acked| acked.as_i64().unwrap()), acked);
    }
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_lost_connection_is_made_again_and_the_grants_on_it_are_counted() {
    let mut redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client_waiting_for(1, FOR_EVER).await, 2).await;
    assert_eq!(acquire(&space, 0).await.acked_replicas, Some(1));
    redis.freeze(0);
    let waiting = {
        let space = space.clone();
        tokio::spawn(async move { acquire(&space, 0).await })
    };
    let in_wait = eventually("it waits for the replica", SOON, async || {
        let list: String = redis.run(&["CLIENT", "LIST"]).await;
        let line = list.lines().find(|line| line.contains("cmd=wait "))?;
        line.split(' ').find_map(|field| field.strip_prefix("id=")).map(str::to_owned)
    });
    let in_wait = in_wait.await;
    let _: i64 = redis.run(&["CLIENT", "KILL", "ID", &in_wait]).await;
    redis.thaw(0);
    let answer = waiting.await.unwrap();
    assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(1)));
    redis.assert_nothing_left(&space.client).await;
}
