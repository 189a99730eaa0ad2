//! Why a call waits: its position, the weight ahead, the holders.

use super::*;

#[tokio::test]
async fn a_call_that_may_not_wait_is_told_the_place_that_it_would_have() {
    let w = World::with(9, "a b c d e").await;
    let mut n = w.node("n").await;
    let labels = metadata(&[("job", "1")]);
    w.ask(&n.call("a"), AcquireArguments { metadata: &labels, ..wanted(6) }).await.unwrap();
    w.advance(1).await;
    w.take(&n.call("b"), 2).await;
    let holder = |lease: &str, weight, seconds: i64, metadata: &Metadata| Holder {
        lease_id: lease_id(lease),
        weight,
        locked_at: (START + seconds * 1_000_000) * 1_000,
        fencing_token: START + seconds * 1_000_000,
        metadata: metadata.clone(),
    };
    let holders = vec![holder("a", 6, 0, &labels), holder("b", 2, 1, &Metadata::new())];
    let first = Waiting { position: 1, holders: holders.clone(), ..Waiting::default() };
    assert_eq!(refused(&w, &mut n, "c", 5).await, first, "nobody waits");
    w.queue(&n.call("c"), 5).await;
    w.queue(&n.call("d"), 4).await;
    let third = Waiting { position: 3, weight_ahead: 9, holders, ..Waiting::default() };
    assert_eq!(refused(&w, &mut n, "e", 1).await, third);
    // One that waits already has its place; one that holds already goes ahead.
    assert_eq!(place(&refused(&w, &mut n, "d", 9).await), (2, 5));
    assert_eq!(place(&refused(&w, &mut n, "b", 8).await), (1, 0));
    w.queue(&n.call("b"), 8).await;
    assert_eq!(place(&refused(&w, &mut n, "a", 8).await), (2, 8));
    assert_eq!(place(&waiting(&w, "d").await), (3, 13));
    w.end().await;
}

#[tokio::test]
async fn a_call_that_is_granted_or_does_not_ask_why_is_told_nothing_more() {
    let w = World::with(1, "a b c").await;
    let n = w.node("n").await;
    let explain = AcquireArguments { explain: true, ..wanted(1) };
    let granted = w.ask(&n.call("a"), explain).await.unwrap();
    assert_eq!((granted.outcome, granted.waiting), (Outcome::Acquired, None));
    let call = n.call("b");
    w.queue(&call, 1).await;
    let plain = w.ask(&n.call("c"), now_or_never(1)).await.unwrap();
    assert_eq!((plain.outcome, plain.waiting), (Outcome::Unavailable, None));
    let gave_up = w.time_out(&call).await.unwrap();
    assert_eq!((gave_up.outcome, gave_up.waiting), (Outcome::TimedOut, None));
    w.end().await;
}

#[tokio::test]
async fn a_call_that_gives_up_is_told_the_place_that_it_had() {
    let w = World::with(5, "a b c d e").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let calls = ["b", "c", "d"].map(|lease| n.call(lease));
    for (call, weight) in calls.iter().zip([5, 4, 3]) {
        w.queue(call, weight).await;
    }
    let gives_up = async |call, weight| {
        let reply = w.scripts.time_out(NS, call, Some((weight, 1))).await.unwrap();
        w.check().await;
        assert_eq!(reply.outcome, Outcome::TimedOut);
        (*reply.waiting.unwrap(), reply.semaphore.unwrap())
    };
    let (waiting, semaphore) = gives_up(&calls[1], 4).await;
    assert_eq!(place(&waiting), (2, 5));
    assert_eq!(waiting.holders.len(), 1);
    // The semaphore is as it is after that.
    assert_eq!((semaphore.waiting_count, semaphore.waiting_weight), (2, 8));
    // One that is parked had a place all the same.
    w.park(&calls[2], false, MINUTE).await;
    assert_eq!(place(&gives_up(&calls[2], 3).await.0), (2, 5));
    // The last to be told so has lost its place before: it would be behind.
    assert_eq!(place(&gives_up(&calls[1], 4).await.0), (2, 5));
    assert_eq!(place(&gives_up(&calls[0], 5).await.0), (1, 0));
    w.end().await;
}

#[tokio::test]
async fn places_are_those_of_the_discipline() {
    let w = World::new().await;
    let (rules, none) = (SemaphoreRules { discipline: Weighted, ..5.into() }, Metadata::new());
    w.scripts.create_semaphore("made", NS, SEM, rules, "", &none).await.unwrap();
    for lease in ["a", "b", "c", "d", "e"] {
        w.scripts.create_lease(NS, &lease_id(lease), lease, MINUTE, &none).await.unwrap();
    }
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    for (lease, weight, share) in [("b", 3, 1), ("c", 2, 4), ("d", 1, 1)] {
        w.queue_with(&n.call(lease), AcquireArguments { share, ..wanted(weight) }).await;
    }
    let listed = async || -> Vec<(String, i64, i64)> {
        let all = waiters(&w).await.into_iter();
        all.map(|waiter| (waiter.lease_id, waiter.position, waiter.share)).collect()
    };
    let [b, c, d] = ["b", "c", "d"].map(lease_id);
    let by_tag = [(c.clone(), 1, 4), (d.clone(), 2, 1), (b.clone(), 3, 1)];
    assert_eq!(listed().await, by_tag);
    assert_eq!(place(&waiting(&w, "b").await), (3, 3));
    // One that comes, and one that asks for more than its wait does: that stands nowhere before it.
    assert_eq!(place(&refused(&w, &mut n, "e", 2).await), (3, 3));
    assert_eq!(place(&refused(&w, &mut n, "d", 5).await), (3, 5));
    assert_eq!(listed().await, by_tag);
    // A share decides also where one would stand that has given up.
    let late = w.scripts.time_out(NS, &n.call("e"), Some((4, 9))).await.unwrap();
    assert_eq!(place(&late.waiting.unwrap()), (1, 0));

    let rules = SemaphoreRules { discipline: Lifo, ..rules };
    w.scripts.update_semaphore("turned", NS, SEM, 1, rules, "", &none).await.unwrap();
    assert_eq!(listed().await, [(d, 1, 1), (c, 2, 4), (b, 3, 1)]);
    assert_eq!(place(&waiting(&w, "b").await), (3, 3));
    assert_eq!(place(&refused(&w, &mut n, "e", 2).await), (1, 0));
    w.end().await;
}

#[tokio::test]
async fn at_most_ten_holders_are_shown_the_first_to_hold() {
    let w = World::of(12).await;
    let mut n = w.node("n").await;
    let mut names = Vec::new();
    for index in (0..12).rev() {
        let name = format!("h{index:02}");
        w.leases(&name).await;
        w.take(&n.call(&name), 1).await;
        w.advance(1).await;
        names.push(lease_id(&name));
    }
    w.leases("b").await;
    let waiting = refused(&w, &mut n, "b", 1).await;
    let shown: Vec<_> = waiting.holders.into_iter().map(|holder| holder.lease_id).collect();
    assert_eq!(shown, names[..10]);
    w.end().await;
}

/// Weights 1, 2, 3, 1, 2, 3, …
fn weight_of(index: usize) -> i64 {
    i64::try_from(index % 3).unwrap() + 1
}

fn weight_of_first(count: usize) -> i64 {
    (0..count).map(weight_of).sum()
}

#[tokio::test]
async fn the_weight_ahead_is_exact_near_both_ends_and_a_lower_bound_in_the_middle() {
    let (w, crowd) = (World::with(3, "h last").await, 1_201);
    let mut n = w.node("n").await;
    w.take(&n.call("h"), 3).await;
    let mut calls = Vec::new();
    for index in 0..crowd {
        let id = format!("w{index:04}");
        let none = Metadata::new();
        w.scripts.create_lease(NS, &lease_id(&id), "p", MINUTE, &none).await.unwrap();
        let call = n.call(&id);
        let reply = w.scripts.acquire(NS, &call, wanted(weight_of(index))).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Waiting);
        calls.push(call);
    }
    let of = async |index: usize| waiting(&w, &format!("w{index:04}")).await;
    for index in [0, 1, 499, 500, 701, 702, 1_199, 1_200] {
        let position = i64::try_from(index).unwrap() + 1;
        assert_eq!(place(&of(index).await), (position, weight_of_first(index)), "{index}");
    }
    for index in [501, 600, 700] {
        let waiting = of(index).await;
        assert!(waiting.weight_ahead_is_least, "{index}");
        let rest = i64::try_from(index - 500).unwrap();
        assert_eq!(waiting.weight_ahead, weight_of_first(500) + rest, "{index}");
        assert!(waiting.weight_ahead < weight_of_first(index), "{index}");
    }
    assert_eq!(place(&refused(&w, &mut n, "last", 1).await), (1_202, weight_of_first(crowd)));
    n.received().await;
    w.end().await;
}

#[tokio::test]
async fn a_weight_ahead_of_more_than_2_to_the_53_is_shown_up_to_there() {
    let most = (1 << 53) - 1;
    let w = World::with(most, "a b c d").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), most).await;
    w.queue(&n.call("b"), most - 1).await;
    assert_eq!(place(&refused(&w, &mut n, "c", most).await), (2, most - 1));
    w.queue(&n.call("c"), most).await;
    let beyond = refused(&w, &mut n, "d", most).await;
    assert_eq!((beyond.position, beyond.weight_ahead), (3, most));
    assert!(beyond.weight_ahead_is_least, "it is more");
    assert_eq!(place(&waiting(&w, "c").await), (2, most - 1));
    w.end().await;
}
