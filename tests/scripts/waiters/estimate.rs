//! The estimate of a wait, by how the queue drained of late.

use super::*;

/// One permit, held by `h`, and nine who wait for it by turns.
async fn turns() -> (World, Node) {
    let w = World::with(1, "h a b c d e f g i j").await;
    let n = w.node("n").await;
    w.take(&n.call("h"), 1).await;
    for lease in ["a", "b", "c", "d", "e", "f", "g", "i", "j"] {
        let timeout = Duration::from_secs(600);
        w.queue_with(&n.call(lease), AcquireArguments { timeout, ..wanted(1) }).await;
    }
    (w, n)
}

/// That much later, and the node shows a sign of life.
async fn later(w: &World, seconds: u64) {
    for chunk in std::iter::repeat_n(10, seconds as usize / 10).chain([seconds % 10]) {
        w.advance(chunk).await;
        w.sweep("n").await;
    }
}

#[tokio::test]
async fn the_wait_is_estimated_by_how_the_queue_went_on_of_late() {
    let (w, mut n) = turns().await;
    assert_eq!(estimate(&waiting(&w, "j").await), None, "nobody was granted yet");
    later(&w, 10).await;
    w.release("h").await;
    // One in 10 s: eight are before it, so nine have to be granted.
    assert_eq!(place(&waiting(&w, "j").await), (8, 7));
    assert_eq!(estimate(&waiting(&w, "j").await), Some((1, 10, 80)));
    later(&w, 5).await;
    w.release("a").await;
    w.release("b").await;
    assert_eq!(estimate(&waiting(&w, "j").await), Some((3, 15, 30)));
    // The next one has 1 before it and itself, of 3 in 15 s; a second and a bit is two.
    assert_eq!(estimate(&waiting(&w, "d").await), Some((3, 15, 5)));
    later(&w, 1).await;
    assert_eq!(estimate(&waiting(&w, "d").await), Some((3, 16, 6)), "5.3, rounded up");
    n.received().await;
    w.end().await;
}

#[tokio::test]
async fn what_was_granted_counts_for_30_to_60_seconds() {
    let (w, mut n) = turns().await;
    later(&w, 29).await;
    w.release("h").await;
    assert_eq!(estimate(&waiting(&w, "b").await), Some((1, 29, 29)));
    later(&w, 2).await;
    w.release("a").await;
    // The window before counts as a whole.
    assert_eq!(estimate(&waiting(&w, "c").await), Some((2, 31, 16)));
    later(&w, 28).await;
    assert_eq!(estimate(&waiting(&w, "c").await), Some((2, 59, 30)));
    later(&w, 1).await;
    // Of the first window nothing counts any more, of the second all.
    assert_eq!(estimate(&waiting(&w, "c").await), Some((1, 30, 30)));
    later(&w, 29).await;
    assert_eq!(estimate(&waiting(&w, "c").await), Some((1, 59, 59)));
    later(&w, 1).await;
    assert_eq!(estimate(&waiting(&w, "c").await), None);
    // It waits on; what is granted now was granted in 30 s and more, not in an instant.
    later(&w, 100).await;
    w.release("b").await;
    assert_eq!(estimate(&waiting(&w, "d").await), Some((1, 40, 40)));
    n.received().await;
    w.end().await;
}

#[tokio::test]
async fn a_queue_that_forms_anew_is_measured_from_then_on() {
    let w = World::with(1, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    w.release("a").await;
    w.release("b").await;
    w.advance(300).await;
    w.take(&n.call("a"), 1).await;
    for lease in ["b", "c", "d"] {
        w.queue(&n.call(lease), 1).await;
    }
    assert_eq!(estimate(&waiting(&w, "d").await), None);
    w.advance(4).await;
    w.release("a").await;
    assert_eq!(estimate(&waiting(&w, "d").await), Some((1, 4, 8)));
    // In less than a second there is nothing to go by.
    w.release("b").await;
    w.release("c").await;
    w.release("d").await;
    w.advance(300).await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    w.queue(&n.call("c"), 1).await;
    w.release("a").await;
    assert_eq!(waiting(&w, "c").await.drained, None);
    n.received().await;
    w.end().await;
}

#[tokio::test]
async fn a_short_gap_in_the_queue_does_not_forget_how_it_went_on() {
    let w = World::with(1, "a b c").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    w.advance(5).await;
    w.release("a").await;
    w.advance(5).await;
    w.queue(&n.call("c"), 1).await;
    assert_eq!(estimate(&waiting(&w, "c").await), Some((1, 10, 10)));
    n.received().await;
    w.end().await;
}

#[tokio::test]
async fn only_what_waiters_are_granted_drains_the_queue() {
    let w = World::with(2, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    let calls = ["b", "c", "d"].map(|lease| n.call(lease));
    for call in &calls {
        w.queue(call, 2).await;
    }
    w.advance(2).await;
    // One leaves, one gives up: that says nothing of when the others are granted.
    w.cancel(&calls[0]).await;
    w.time_out(&calls[1]).await.unwrap();
    assert_eq!(waiting(&w, "d").await.drained, None);
    w.release("a").await;
    assert_eq!(w.picture().await, "holds d:2");
    w.release("d").await;
    w.take(&n.call("a"), 1).await;
    w.release("a").await;
    w.take(&n.call("a"), 2).await;
    let waiting = refused(&w, &mut n, "b", 1).await;
    assert_eq!(estimate(&waiting), Some((2, 2, 1)), "what was free was taken, not waited for");
    w.end().await;
}

#[tokio::test]
async fn a_clock_that_steps_back_starts_the_measure_anew() {
    let (w, mut n) = turns().await;
    later(&w, 10).await;
    w.release("h").await;
    w.clock.set(START - 5_000_000).await;
    assert_eq!(waiting(&w, "j").await.drained, None);
    w.release("a").await;
    later(&w, 2).await;
    assert_eq!(estimate(&waiting(&w, "j").await), Some((1, 2, 14)));
    n.received().await;
    w.end().await;
}
