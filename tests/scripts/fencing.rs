//! Fencing tokens: one for the life of a hold, and always larger from hold to hold.

use std::time::Duration;

use grackle_client::wire::Metadata;
use grackle_test_support::script_world::{NS, SEM, START, World, granted};

#[tokio::test]
async fn tokens_rise_from_hold_to_hold_while_the_clock_stands() {
    let w = World::with(9, "a b c").await;
    let n = w.node("n").await;
    let mut last = 0;
    for lease in ["a", "b", "c", "a", "b"] {
        w.release(lease).await;
        let token = w.take(&n.call(lease), 1).await;
        assert!(token > last, "{token} after {last}");
        last = token;
    }
    assert_eq!(last, START + 4);
    w.end().await;
}

#[tokio::test]
async fn tokens_rise_when_the_clock_jumps_back() {
    let w = World::with(9, "a b c").await;
    let n = w.node("n").await;
    let first = w.take(&n.call("a"), 1).await;
    w.clock.set(START - 20_000_000).await;
    let second = w.take(&n.call("b"), 1).await;
    assert_eq!(second, first + 1);
    w.clock.set(START + 20_000_000).await;
    assert_eq!(w.take(&n.call("c"), 1).await, START + 20_000_000);
    w.end().await;
}

#[tokio::test]
async fn tokens_are_in_the_order_of_the_hand_off() {
    let w = World::with(2, "a b c").await;
    let mut n = w.node("n").await;
    let first = w.take(&n.call("a"), 2).await;
    let (b, c) = (n.call("b"), n.call("c"));
    w.queue(&c, 1).await;
    w.queue(&b, 1).await;
    w.release("a").await;
    assert_eq!(n.received().await, [granted(&[&c]), granted(&[&b])]);
    let (b, c) = (w.take(&b, 1).await, w.take(&c, 1).await);
    assert!(first < c && c < b, "{first} {c} {b}");
    w.end().await;
}

#[tokio::test]
async fn the_message_and_a_retry_carry_the_token_of_the_hold() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    w.release("a").await;
    let token = n.answer().await.fencing_token;
    assert_eq!(w.hold("b").await.fencing_token, token);
    assert_eq!(w.take(&call, 1).await, token);
    let page =
        w.scripts.list_semaphore_holders(NS, SEM, &grackle_client::scripts::PageStart::First, 1);
    assert_eq!(page.await.unwrap().entries[0].fencing_token, token);
    w.end().await;
}

#[tokio::test]
async fn a_hold_keeps_its_token_when_it_grows_and_shrinks() {
    let w = World::with(3, "a b").await;
    let n = w.node("n").await;
    let token = w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    w.advance(1).await;
    assert_eq!(w.take(&n.call("a"), 2).await, token);
    let grows = n.call("a");
    w.queue(&grows, 3).await;
    w.release("b").await;
    assert_eq!(w.take(&grows, 3).await, token);
    assert_eq!(w.take(&n.call("a"), 1).await, token);
    w.end().await;
}

#[tokio::test]
async fn a_hold_taken_back_does_not_give_its_token_to_the_next() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    let call = n.call("a");
    let token = w.take(&call, 1).await;
    w.cancel(&call).await;
    assert!(w.take(&n.call("b"), 1).await > token);
    w.end().await;
}

#[tokio::test]
async fn a_semaphore_made_anew_later_gives_larger_tokens() {
    let w = World::with(1, "a").await;
    let n = w.node("n").await;
    let before = w.take(&n.call("a"), 1).await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    w.clock.advance(Duration::from_micros(1)).await;
    let made = w.scripts.create_semaphore("again", NS, SEM, 1, "", &Metadata::new()).await;
    assert_eq!(made.unwrap().active_holds, 0);
    assert!(w.take(&n.call("a"), 1).await > before);
    w.end().await;
}
