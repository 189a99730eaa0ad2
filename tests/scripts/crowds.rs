//! Crowds: one script does a bounded part of what is due or freed, and the next scripts the rest.

use std::time::Duration;

use grackle_client::scripts::{AcquireArguments, Call, CallState, Message, Outcome};
use grackle_client::wire::Metadata;
use grackle_test_support::script_world::{
    BUDGET, DAY, MINUTE, NS, Node, SEM, Subscription, World, granted, lease_id, told, wanted,
};

const CROWD: usize = 1_200;

/// Leases c0, c1, … that live so long.
async fn crowd(w: &World, ttl: Duration) -> Vec<String> {
    let names: Vec<_> = (0..CROWD).map(|number| format!("c{number}")).collect();
    for name in &names {
        w.scripts.create_lease(NS, &lease_id(name), "p", ttl, &Metadata::new()).await.unwrap();
    }
    names
}

/// One call of each lease, which waits for an hour.
async fn all_wait(w: &World, node: &Node, leases: &[String], weight: i64) -> Vec<Call> {
    let calls: Vec<_> = leases.iter().map(|lease| node.call(lease)).collect();
    let wanted = AcquireArguments { timeout: MINUTE * 60, ..wanted(weight) };
    for call in &calls {
        let reply = w.scripts.acquire(NS, call, wanted).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Waiting);
    }
    w.check().await;
    calls
}

/// Was it said that there is something to do at once?
async fn called(subscription: &mut Subscription) -> bool {
    let messages = subscription.messages().await;
    messages.iter().any(|message| matches!(message, Message::Sweep { sweep_in: 0 }))
}

async fn holds(w: &World) -> usize {
    w.state().await.holds(SEM).len()
}

#[tokio::test]
async fn a_lease_with_many_holds_is_revoked_in_steps() {
    let w = World::new().await;
    w.leases("a b").await;
    let mut n = w.node("n").await;
    let names: Vec<_> = (0..CROWD).map(|number| format!("s{number}")).collect();
    for name in &names {
        w.scripts.create_semaphore(name, NS, name, 1, "", &Metadata::new()).await.unwrap();
        w.scripts.acquire(NS, &n.call_on(name, "a"), wanted(1)).await.unwrap();
    }
    let waits = n.call_on(&names[CROWD - 1], "b");
    w.queue(&waits, 1).await;
    let (monitor, mut subscription) = (w.monitor().await, w.announcements().await);
    w.revoke("a").await;
    let found = w.scripts_run(monitor).await;
    assert!(found > CROWD / BUDGET, "{found:?}");
    assert!(called(&mut subscription).await, "should its caller die after the first step");
    // The step that freed this one's permit may have had no work left to hand it on.
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&waits])]);
    let state = w.state().await;
    let held: i64 = names.iter().map(|name| state.number(name, "active_holds")).sum();
    assert_eq!(held, 1);
    w.scripts.delete_namespace(NS).await.unwrap();
    w.end().await;
}

#[tokio::test]
async fn many_leases_that_expire_together_end_in_steps() {
    let w = World::with(i64::try_from(CROWD).unwrap(), "z").await;
    let mut n = w.node("n").await;
    let leases = crowd(&w, Duration::from_secs(10)).await;
    for lease in &leases {
        w.scripts.acquire(NS, &n.call(lease), wanted(1)).await.unwrap();
    }
    let waits = n.call("z");
    w.queue(&waits, 1_200).await;
    w.advance(10).await;
    let monitor = w.monitor().await;
    w.sweep("n").await;
    let found = w.scripts_run(monitor).await;
    assert!(found > CROWD / BUDGET, "{found:?}");
    assert_eq!(n.received().await, [granted(&[&waits])]);
    assert_eq!(w.picture().await, "holds z:1200");
    w.end().await;
}

#[tokio::test]
async fn many_waiters_whose_leases_expire_together_are_all_told() {
    let w = World::with(1, "a").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let leases = crowd(&w, Duration::from_secs(10)).await;
    let calls = all_wait(&w, &n, &leases, 1).await;
    w.advance(10).await;
    assert_eq!(w.get().await.waiting_count, 0);
    let mut received = n.received().await;
    let mut right: Vec<_> =
        calls.iter().map(|call| told("NO_LEASE lease not found", &[call])).collect();
    received.sort();
    right.sort();
    assert_eq!(received, right);
    assert_eq!(w.picture().await, "holds a:1");
    w.end().await;
}

#[tokio::test]
async fn raised_permits_admit_a_crowd_in_steps_and_call_for_the_next() {
    let w = World::with(1, "a").await;
    let (mut n, mut subscription) = (w.node("n").await, w.announcements().await);
    w.take(&n.call("a"), 1).await;
    let calls = all_wait(&w, &n, &crowd(&w, DAY).await, 1).await;
    assert!(!called(&mut subscription).await);
    let updated = w.set_permits(5_000).await.unwrap();
    let first = 1 + BUDGET;
    assert_eq!((updated.permits, holds(&w).await), (5_000, first));
    assert_eq!(updated.active_holders_count, i64::try_from(first).unwrap());
    assert!(called(&mut subscription).await);
    let monitor = w.monitor().await;
    w.sweep("n").await;
    let found = w.scripts_run(monitor).await;
    assert!(found >= 2, "{found:?}");
    assert_eq!(holds(&w).await, 1 + CROWD);
    // In order, once each, with tokens that rise.
    let right: Vec<_> = calls.iter().map(|call| granted(&[call])).collect();
    assert_eq!(n.received().await, right);
    let state = w.state().await;
    let holds = state.holds(SEM);
    let tokens: Vec<_> =
        calls.iter().map(|call| holds[call.lease_id.as_str()].fencing_token).collect();
    assert!(tokens.is_sorted_by(|one, next| one < next));
    w.end().await;
}

#[tokio::test]
async fn what_one_script_left_any_other_goes_on_with_before_it_answers() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    all_wait(&w, &n, &crowd(&w, DAY).await, 1).await;
    w.set_permits(1_100).await.unwrap();
    assert_eq!(holds(&w).await, 1 + BUDGET);
    let semaphore = w.get().await;
    assert_eq!((semaphore.active_holders_count, semaphore.waiting_count), (1_100, 101));
    w.end().await;
}

#[tokio::test]
async fn a_release_admits_a_crowd_in_steps() {
    let w = World::with(1_200, "a").await;
    let (mut n, mut subscription) = (w.node("n").await, w.announcements().await);
    w.take(&n.call("a"), 1_200).await;
    let calls = all_wait(&w, &n, &crowd(&w, DAY).await, 1).await;
    w.release("a").await;
    assert_eq!(holds(&w).await, BUDGET);
    assert!(called(&mut subscription).await);
    // The last in line gives up, but is granted before Redis learns of that.
    let reply = w.time_out(&calls[CROWD - 1]).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(holds(&w).await, CROWD);
    assert_eq!(n.received().await.len(), CROWD);
    w.end().await;
}

#[tokio::test]
async fn lowered_permits_end_the_waits_of_a_crowd_in_steps() {
    let w = World::with(9, "a b").await;
    let (mut n, mut subscription) = (w.node("n").await, w.announcements().await);
    w.take(&n.call("a"), 1).await;
    let calls = all_wait(&w, &n, &crowd(&w, DAY).await, 9).await;
    let light = n.call("b");
    w.queue(&light, 2).await;
    w.set_permits(8).await.unwrap();
    assert!(called(&mut subscription).await);
    w.sweep("n").await;
    assert_eq!(w.picture().await, "holds a:1 b:2");
    let mut received = n.received().await;
    assert_eq!(received.pop().unwrap(), granted(&[&light]));
    received.sort();
    let mut right: Vec<_> = calls
        .iter()
        .map(|call| told("WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits", &[call]))
        .collect();
    right.sort();
    assert_eq!(received, right);
    w.end().await;
}

#[tokio::test]
async fn deleting_a_semaphore_tells_a_crowd_in_steps() {
    let w = World::with(1, "a").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls = all_wait(&w, &n, &crowd(&w, DAY).await, 1).await;
    let parked: Vec<_> = calls[..300].iter().map(|call| (call.clone(), MINUTE)).collect();
    w.scripts.park(NS, false, &parked).await.unwrap();
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    let right: Vec<_> =
        calls[300..].iter().map(|call| told("NO_SEMAPHORE semaphore not found", &[call])).collect();
    assert_eq!(n.received().await, right);
    // Nothing is left of it but the call for a next script, which finds nothing to do.
    w.sweep("n").await;
    w.check().await;
    w.end().await;
}

#[tokio::test]
async fn a_crowd_behind_one_dead_node_is_parked_in_steps_and_comes_back_in_order() {
    let w = World::with(1, "a b").await;
    let (silent, mut n) = (w.node("silent").await, w.node("n").await);
    w.take(&n.call("a"), 1).await;
    let leases = crowd(&w, DAY).await;
    let calls = all_wait(&w, &silent, &leases, 1).await;
    let next = n.call("b");
    w.advance(10).await;
    w.queue(&next, 1).await;
    w.advance(5).await;
    w.sweep("n").await;
    let waiting = w.get().await;
    assert_eq!((waiting.waiting_count, waiting.waiting_weight), (1, 1));
    assert_eq!(w.state().await.zset(":semaphore:s:parked").len(), CROWD);
    for calls in calls.chunks(BUDGET) {
        let (_, resumed) = w.scripts.resume(NS, calls).await.unwrap();
        assert!(resumed.iter().all(|resumed| *resumed == CallState::Waiting));
        w.check().await;
    }
    let state = w.state().await;
    let queue = state.zset(":semaphore:s:queue").iter().map(|(lease, _)| lease.as_str());
    let right = calls.iter().map(|call| call.lease_id.as_str());
    let last = lease_id("b");
    assert!(queue.eq(right.chain([last.as_str()])));
    assert_eq!(n.received().await, [""; 0]);
    w.end().await;
}

#[tokio::test]
async fn a_crowd_whose_node_is_not_subscribed_is_passed_over_for_the_one_who_listens() {
    let w = World::with(1, "a b").await;
    let (mut dead, mut n) = (w.node("dead").await, w.node("n").await);
    w.take(&n.call("a"), 1).await;
    all_wait(&w, &dead, &crowd(&w, DAY).await, 1).await;
    let next = n.call("b");
    w.queue(&next, 1).await;
    dead.dies().await;
    w.release("a").await;
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(holds(&w).await, 1);
    w.end().await;
}

#[tokio::test]
async fn a_crowd_whose_time_is_over_is_forgotten_in_steps() {
    let w = World::with(1, "a").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls = all_wait(&w, &n, &crowd(&w, DAY).await, 1).await;
    w.advance(3_601).await;
    w.sweep("n").await;
    assert_eq!(w.picture().await, "holds a:1");
    assert_eq!(n.received().await, [""; 0]);
    assert_eq!(w.resume(&calls[7]).await, CallState::Unknown);
    w.end().await;
}
