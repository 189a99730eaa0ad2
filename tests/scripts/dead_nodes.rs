//! Nodes that are gone: nobody hears their channel, or their alive mark has ended.

use grackle_client::scripts::{CallState, Outcome};
use grackle_test_support::script_world::{World, granted, now_or_never};

#[tokio::test]
async fn a_head_whose_node_is_dead_is_passed_over_where_it_fits() {
    let w = World::with(5, "a b c").await;
    let (mut dead, mut n) = (w.node("dead").await, w.node("n").await);
    w.take(&n.call("a"), 5).await;
    let (head, next) = (dead.call("b"), n.call("c"));
    w.queue(&head, 2).await;
    w.queue(&next, 4).await;
    dead.dies().await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds c:4, parked b:2");
    dead.returns().await;
    assert_eq!(w.resume(&head).await, CallState::Waiting);
    assert_eq!(w.picture().await, "holds c:4, queue b:2");
    w.release("c").await;
    assert_eq!(dead.received().await, [granted(&[&head])]);
    w.end().await;
}

#[tokio::test]
async fn a_head_whose_node_is_dead_is_passed_over_where_it_does_not_fit() {
    let w = World::with(5, "a b c d").await;
    let (mut dead, mut n) = (w.node("dead").await, w.node("n").await);
    w.take(&n.call("a"), 2).await;
    w.take(&n.call("d"), 3).await;
    let (head, next) = (dead.call("b"), n.call("c"));
    w.queue(&head, 4).await;
    w.queue(&next, 1).await;
    dead.dies().await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds c:1 d:3, parked b:4");
    w.end().await;
}

#[tokio::test]
async fn nobody_is_refused_for_the_sake_of_a_dead_head() {
    let w = World::with(5, "a b c d").await;
    let (mut dead, n) = (w.node("dead").await, w.node("n").await);
    w.take(&n.call("a"), 2).await;
    w.queue(&dead.call("b"), 4).await;
    dead.dies().await;
    let reply = w.ask(&n.call("c"), now_or_never(3)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired);
    assert_eq!(w.picture().await, "holds a:2 c:3, parked b:4");
    w.end().await;
}

#[tokio::test]
async fn who_listens_to_all_channels_by_a_pattern_keeps_no_dead_node_alive() {
    let w = World::with(1, "a b c").await;
    let (mut dead, mut n) = (w.node("dead").await, w.node("n").await);
    let mut operator = w.redis.raw().client().get_async_pubsub().await.unwrap();
    operator.psubscribe("*").await.unwrap();
    w.take(&n.call("a"), 1).await;
    w.queue(&dead.call("b"), 1).await;
    let next = n.call("c");
    w.queue(&next, 1).await;
    dead.dies().await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    w.end().await;
}

#[tokio::test]
async fn a_node_without_an_alive_mark_is_passed_over_though_its_link_stands() {
    let w = World::with(5, "a b c d").await;
    let (silent, mut n) = (w.node("silent").await, w.node("n").await);
    w.take(&n.call("a"), 3).await;
    let (head, again, next) = (silent.call("b"), silent.call("d"), n.call("c"));
    w.queue(&head, 5).await;
    w.queue(&again, 5).await;
    w.queue(&next, 2).await;
    w.advance(10).await;
    assert_eq!(w.sweep("n").await.waiting, 1);
    w.advance(4).await;
    assert_eq!(w.sweep("n").await.sweep_in, 1_000_000);
    assert_eq!(w.picture().await, "holds a:3, queue b:5 d:5 c:2");
    w.advance(1).await;
    w.sweep("n").await;
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.picture().await, "holds a:3 c:2, parked b:5 d:5");
    assert_eq!(w.sweep("silent").await.waiting, 0);
    w.resume(&again).await;
    w.resume(&head).await;
    assert_eq!(w.picture().await, "holds a:3 c:2, queue b:5 d:5");
    assert_eq!(w.sweep("silent").await.waiting, 2);
    w.end().await;
}

#[tokio::test]
async fn a_sweep_renews_the_mark_of_its_own_node() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    for _ in 0..5 {
        w.advance(10).await;
        assert_eq!(w.sweep("n").await.waiting, 1);
        assert_eq!(w.picture().await, "holds a:1, queue b:1");
    }
    w.sweep("another").await;
    w.advance(14).await;
    w.get().await;
    w.end().await;
}

#[tokio::test]
async fn a_new_call_of_the_lease_through_another_node_takes_the_old_place() {
    let w = World::with(1, "a b c").await;
    let (mut dead, mut n) = (w.node("dead").await, w.node("n").await);
    w.take(&n.call("a"), 1).await;
    let (lost, next) = (dead.call("b"), n.call("c"));
    w.queue(&lost, 1).await;
    w.queue(&next, 1).await;
    dead.dies().await;
    w.advance(15).await;
    w.sweep("n").await;
    w.resume(&next).await;
    assert_eq!(w.picture().await, "holds a:1, queue c:1, parked b:1");
    let again = n.call("b");
    w.queue(&again, 1).await;
    assert_eq!(w.picture().await, "holds a:1, queue b:1 c:1");
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&again])]);
    // The dead node's call was granted with it, should it come back.
    let found = w.resume(&lost).await;
    assert!(matches!(found, CallState::Answered(_)), "{found:?}");
    w.end().await;
}
