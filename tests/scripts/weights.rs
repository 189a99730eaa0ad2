//! Permits and weights up to 2^53 - 1, exact though Lua's numbers are doubles.

use grackle_client::scripts::Outcome;
use grackle_client::wire::Metadata;
use grackle_test_support::script_world::{DAY, NS, SEM, World, lease_id, wanted};

const MOST: i64 = (1 << 53) - 1;

#[tokio::test]
async fn weights_are_exact_up_to_2_to_the_53() {
    let w = World::with(MOST, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), MOST - 1).await;
    w.take(&n.call("b"), 1).await;
    let full = w.get().await;
    assert_eq!((full.permits, full.active_holds), (MOST, MOST));
    w.queue(&n.call("c"), MOST).await;
    assert_eq!(w.get().await.waiting_weight, MOST);
    w.take(&n.call("a"), MOST - 2).await;
    assert_eq!(w.get().await.active_holds, MOST - 1);
    w.release("a").await;
    assert_eq!(w.get().await.active_holds, 1);
    w.release("b").await;
    let answer = n.answer().await.semaphore.unwrap();
    assert_eq!((answer.active_holds, answer.waiting_weight), (MOST, 0));
    assert_eq!(w.picture().await, format!("holds c:{MOST}"));
    w.end().await;
}

#[tokio::test]
async fn the_heaviest_waiters_leave_no_trace_in_the_sums() {
    let w = World::with(MOST, "a b c d").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), MOST).await;
    let calls = [n.call("b"), n.call("c"), n.call("d")];
    for call in &calls {
        let reply = w.scripts.acquire(NS, call, wanted(MOST)).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Waiting);
    }
    assert_eq!(w.scripts.get_semaphore(NS, SEM).await.unwrap().waiting_count, 3);
    for call in &calls {
        w.scripts.cancel(NS, call).await.unwrap();
    }
    assert_eq!(w.get().await.waiting_weight, 0);
    w.end().await;
}

#[tokio::test]
async fn a_sum_of_waiting_weights_is_shown_up_to_2_to_the_53() {
    let w = World::with(MOST, "a b c d").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), MOST).await;
    let calls = [(n.call("b"), MOST - 1, MOST - 1), (n.call("c"), 1, MOST), (n.call("d"), 1, MOST)];
    for (call, weight, shown) in &calls {
        w.queue(call, *weight).await;
        assert_eq!(w.get().await.waiting_weight, *shown);
    }
    for (index, shown) in [(0, 2), (2, 1), (1, 0)] {
        w.cancel(&calls[index].0).await;
        assert_eq!(w.get().await.waiting_weight, shown);
    }
    w.end().await;
}

#[tokio::test]
async fn a_crowd_of_the_heaviest_waiters_can_be_shown() {
    let w = World::with(MOST, "a").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), MOST).await;
    let mut calls = Vec::new();
    for number in 0..1_100 {
        let (lease, none) = (format!("w{number}"), Metadata::new());
        w.scripts.create_lease(NS, &lease_id(&lease), "p", DAY, &none).await.unwrap();
        calls.push(n.call(&lease));
        w.scripts.acquire(NS, &calls[number], wanted(MOST)).await.unwrap();
    }
    assert_eq!(w.scripts.get_semaphore(NS, SEM).await.unwrap().waiting_count, 1_100);
    for call in &calls {
        w.scripts.cancel(NS, call).await.unwrap();
    }
    assert_eq!(w.get().await.waiting_weight, 0);
    w.end().await;
}
