//! Who waits and why: the list of waiters, one of them, and what a call that is not granted is told.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, Edge, Outcome, PageStart, SemaphoreRules};
use grackle_client::wire::QueueDiscipline::{Fifo, Lifo, Weighted};
use grackle_client::wire::{
    Drained, Holder, ListSemaphoreWaitersRequest, Metadata, SemaphoreWaiterResponse,
    UpdateSemaphoreRequest, Waiter, Waiting,
};
use grackle_test_support::world::{
    MINUTE, NS, Node, SEM, START, World, lease_id, metadata, now_or_never, wanted,
};
use grackle_test_support::{TestNamespace, TestRedis};

async fn waiters(w: &World) -> Vec<Waiter> {
    let page = w.scripts.list_semaphore_waiters(NS, SEM, &PageStart::First, 250, "").await;
    w.check().await;
    page.unwrap().entries
}

async fn waiter(w: &World, lease: &str) -> Result<SemaphoreWaiterResponse, Error> {
    let found = w.scripts.get_semaphore_waiter(NS, SEM, &lease_id(lease)).await;
    w.check().await;
    found
}

async fn waiting(w: &World, lease: &str) -> Waiting {
    waiter(w, lease).await.unwrap().waiting
}

/// Asks at once or never, and why not.
async fn refused(w: &World, n: &mut Node, lease: &str, weight: i64) -> Waiting {
    let wanted = AcquireArguments { explain: true, ..now_or_never(weight) };
    let reply = w.ask(&n.call(lease), wanted).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    *reply.waiting.unwrap()
}

/// Position and weight ahead.
fn place(waiting: &Waiting) -> (i64, i64) {
    assert!(!waiting.weight_ahead_is_least);
    (waiting.position, waiting.weight_ahead)
}

/// Weight and seconds drained, and the estimate.
fn estimate(waiting: &Waiting) -> Option<(i64, i64, i64)> {
    let Drained { weight, seconds } = waiting.drained?;
    Some((weight, seconds, waiting.estimated_wait_seconds.unwrap()))
}

#[tokio::test]
async fn a_waiter_is_shown_with_all_that_it_asked_for() {
    let w = World::with(5, "a").await;
    let n = w.node("n").await;
    let process = "host-1/\"ü\"";
    w.scripts
        .create_lease(NS, &lease_id("b"), process, MINUTE * 9, &Metadata::new())
        .await
        .unwrap();
    w.take(&n.call("a"), 4).await;
    let labels = metadata(&[("job", "1"), ("ключ", "")]);
    w.advance(3).await;
    w.queue_with(&n.call("b"), AcquireArguments { metadata: &labels, ..wanted(2) }).await;
    let second = Duration::from_secs(1);
    let queued_at = (START + 3_000_000) * 1_000;
    let shown = Waiter {
        lease_id: lease_id("b"),
        process_id: process.to_owned(),
        weight: 2,
        share: 1,
        queued_at,
        deadline_at: queued_at + 60_000_000_000,
        position: 1,
        set_aside: false,
        metadata: labels.clone(),
    };
    assert_eq!(waiters(&w).await, std::slice::from_ref(&shown));
    assert_eq!(waiter(&w, "b").await.unwrap().waiter, shown);
    // Of two calls, what the later asked for, and the later end.
    w.advance(1).await;
    w.queue_with(&n.call("b"), AcquireArguments { timeout: second, ..wanted(3) }).await;
    let shown = Waiter { weight: 3, metadata: Metadata::new(), ..shown };
    assert_eq!(waiters(&w).await, [shown]);
    w.end().await;
}

#[tokio::test]
async fn the_share_of_a_wait_is_shown() {
    let w = World::with(1, "a b").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.queue_with(&n.call("b"), AcquireArguments { share: 7, ..wanted(1) }).await;
    assert_eq!(waiters(&w).await[0].share, 7);
    w.end().await;
}

#[tokio::test]
async fn those_parked_are_listed_at_their_places_and_have_no_position() {
    let w = World::with(5, "a b c d e").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let calls = ["b", "c", "d", "e"].map(|lease| n.call(lease));
    for call in &calls {
        w.queue(call, 1).await;
    }
    w.park(&calls[1], false, MINUTE).await;
    let shown = |waiters: Vec<Waiter>| -> Vec<(String, i64, bool)> {
        let shown = waiters.into_iter();
        shown.map(|waiter| (waiter.lease_id, waiter.position, waiter.set_aside)).collect()
    };
    let right = [("b", 1, false), ("c", 0, true), ("d", 2, false), ("e", 3, false)];
    let right = right.map(|(lease, position, parked)| (lease_id(lease), position, parked));
    assert_eq!(shown(waiters(&w).await), right);
    // It would come back to the second place.
    let found = waiter(&w, "c").await.unwrap();
    assert_eq!((found.waiter.position, found.waiter.set_aside), (0, true));
    assert_eq!(place(&found.waiting), (2, 1));
    w.resume(&calls[1]).await;
    let found = waiter(&w, "c").await.unwrap();
    assert_eq!((found.waiter.position, found.waiter.set_aside), (2, false));
    assert_eq!(place(&found.waiting), (2, 1));
    assert_eq!(place(&waiting(&w, "e").await), (4, 3));
    w.end().await;
}

#[tokio::test]
async fn pages_go_on_though_waiters_move_between_the_queue_and_aside() {
    let w = World::with(5, "a b c d e f g").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 5).await;
    let calls = ["b", "c", "d", "e", "f", "g"].map(|lease| n.call(lease));
    for call in &calls {
        w.queue(call, 1).await;
    }
    let mut seen = Vec::new();
    let mut from = PageStart::First;
    for moved in [[0, 1], [1, 2], [3, 4]] {
        let page = w.scripts.list_semaphore_waiters(NS, SEM, &from, 2, "").await.unwrap();
        seen.extend(page.entries.into_iter().map(|waiter| waiter.lease_id));
        // The boundary goes parked with one that was shown or is to come, then they come back.
        for call in moved {
            w.park(&calls[call], false, MINUTE).await;
        }
        let Some(after) = page.after else { break };
        from = PageStart::After(after);
    }
    assert_eq!(seen, ["b", "c", "d", "e", "f", "g"].map(lease_id));
    w.end().await;
}

#[tokio::test]
async fn a_page_does_not_go_on_in_another_order() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    space.take(&space.lease().await, 1).await;
    for _ in 0..3 {
        drop(space.wait(&space.lease().await, 1).await);
    }
    let mut request = ListSemaphoreWaitersRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        limit: 2,
        ..Default::default()
    };
    let first = space.client.list_semaphore_waiters(request.clone()).await.unwrap();
    request.pagination_token = first.page.next_pagination_token;
    let update = |queue_discipline, expected_version| UpdateSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        permits: 1,
        expected_version,
        queue_discipline,
        ..Default::default()
    };
    space.client.update_semaphore(update(Lifo, 1)).await.unwrap();
    let refused = space.client.list_semaphore_waiters(request.clone()).await.unwrap_err();
    assert!(
        matches!(&refused, Error::InvalidField { field: "pagination_token", .. }),
        "{refused:?}"
    );
    space.client.update_semaphore(update(Fifo, 2)).await.unwrap();
    let second = space.client.list_semaphore_waiters(request).await.unwrap();
    assert_eq!((first.waiters.len(), second.waiters.len()), (2, 1));
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn places_that_are_fractions_negative_or_equal_are_paged_once_each() {
    let w = World::with(1, "h").await;
    let mut n = w.node("n").await;
    w.take(&n.call("h"), 1).await;
    // Neighbours that 15 digits would not tell apart, and some that only names do.
    let scores = [
        "-4503599627370495.5",
        "-4503599627370495",
        "-0.1",
        "0.1",
        "0.30000000000000004",
        "0.29999999999999999",
        "1800000000000000.25",
        "1800000000000000.5",
        "7.25",
        "7.25",
        "7.25",
        "7.25",
    ];
    let (mut all, mut places) = (Vec::new(), Vec::new());
    for (index, score) in scores.iter().enumerate() {
        let name = format!("w{index:02}");
        w.leases(&name).await;
        let listening = index % 3 != 1;
        w.queue_with(&n.call(&name), AcquireArguments { listening, ..wanted(1) }).await;
        let list = if listening { "queue" } else { "parked" };
        let key = format!("{}:semaphore:{SEM}:{list}", w.namespace());
        all.push((score.parse::<f64>().unwrap(), lease_id(&name)));
        places.push((key, (*score).to_owned(), lease_id(&name)));
    }
    // As other disciplines give them; from here on the rules for arrivals are broken.
    for (key, score, lease) in &places {
        let _: i64 = w.redis.run(&["ZADD", key, score, lease]).await;
    }
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let all: Vec<_> = all.into_iter().map(|(_, lease)| lease).collect();
    let page = async |from: PageStart, limit| {
        let page = w.scripts.list_semaphore_waiters(NS, SEM, &from, limit, "").await.unwrap();
        let leases: Vec<_> = page.entries.into_iter().map(|waiter| waiter.lease_id).collect();
        (leases, page.before, page.after)
    };
    for limit in [1, 2, 5] {
        let (mut forward, mut back, mut edge) = (Vec::new(), Vec::new(), None::<Edge>);
        loop {
            let from = edge.map_or(PageStart::First, PageStart::After);
            let (leases, before, after) = page(from, limit).await;
            forward.extend(leases);
            edge = after;
            if edge.is_none() {
                edge = before;
                break;
            }
        }
        assert_eq!(forward, all, "by {limit}");
        let last = all.len() - 1 - (all.len() - 1) % usize::try_from(limit).unwrap();
        while let Some(before) = edge {
            let (leases, first, _) = page(PageStart::Before(before), limit).await;
            back.splice(0..0, leases);
            edge = first;
        }
        assert_eq!(back, all[..last], "by {limit}, back");
    }
    // The places stand as they were, digit by digit.
    for (key, score, lease) in &places {
        let stands: String = w.redis.run(&["ZSCORE", key, lease]).await;
        assert_eq!(stands.parse::<f64>().unwrap(), score.parse::<f64>().unwrap());
    }
    n.received().await;
}

#[tokio::test]
async fn whoever_does_not_wait_is_no_waiter() {
    let w = World::with(1, "a b c").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue(&call, 1).await;
    assert!(matches!(waiter(&w, "a").await, Err(Error::WaiterNotFound)));
    assert!(matches!(waiter(&w, "c").await, Err(Error::WaiterNotFound)));
    assert!(matches!(waiter(&w, "x").await, Err(Error::LeaseNotFound)));
    let id = lease_id("b");
    let missing = w.scripts.get_semaphore_waiter(NS, "t", &id).await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)));
    let missing = w.scripts.get_semaphore_waiter("other", SEM, &id).await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)));
    let missing = w.scripts.list_semaphore_waiters(NS, "t", &PageStart::First, 1, "").await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)));
    let missing = w.scripts.list_semaphore_waiters("other", SEM, &PageStart::First, 1, "").await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)));
    assert_eq!(waiter(&w, "b").await.unwrap().waiter.lease_id, id);
    w.give_up(&call).await.unwrap();
    assert!(matches!(waiter(&w, "b").await, Err(Error::WaiterNotFound)));
    w.end().await;
}

#[tokio::test]
async fn a_waiter_whose_lease_has_expired_is_not_shown() {
    let w = World::with(1, "a").await;
    let n = w.node("n").await;
    w.lease("b", Duration::from_secs(5)).await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    w.advance(5).await;
    assert_eq!(waiters(&w).await, []);
    assert!(matches!(waiter(&w, "b").await, Err(Error::LeaseNotFound)));
    w.end().await;
}

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
    let gave_up = w.give_up(&call).await.unwrap();
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
        let reply = w.scripts.give_up(NS, call, Some((weight, 1))).await.unwrap();
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
    let late = w.scripts.give_up(NS, &n.call("e"), Some((4, 9))).await.unwrap();
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
    w.give_up(&calls[1]).await.unwrap();
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
