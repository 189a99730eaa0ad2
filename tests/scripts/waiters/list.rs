//! ListSemaphoreWaiters and GetSemaphoreWaiter.

use super::*;

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
async fn parked_waiters_are_listed_at_their_places_and_have_no_position() {
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
async fn pages_go_on_though_waiters_are_parked_and_come_back() {
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
    let found = waiter(&w, "a").await;
    assert!(matches!(found, Err(Error::WaiterNotFound)), "{found:?}");
    let found = waiter(&w, "c").await;
    assert!(matches!(found, Err(Error::WaiterNotFound)), "{found:?}");
    let found = waiter(&w, "x").await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    let id = lease_id("b");
    let missing = w.scripts.get_semaphore_waiter(NS, "t", &id).await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)), "{missing:?}");
    let missing = w.scripts.get_semaphore_waiter("other", SEM, &id).await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)), "{missing:?}");
    let missing = w.scripts.list_semaphore_waiters(NS, "t", &PageStart::First, 1, "").await;
    assert!(matches!(missing, Err(Error::SemaphoreNotFound)), "{missing:?}");
    let missing = w.scripts.list_semaphore_waiters("other", SEM, &PageStart::First, 1, "").await;
    assert!(matches!(missing, Err(Error::NamespaceNotFound)), "{missing:?}");
    assert_eq!(waiter(&w, "b").await.unwrap().waiter.lease_id, id);
    w.time_out(&call).await.unwrap();
    let found = waiter(&w, "b").await;
    assert!(matches!(found, Err(Error::WaiterNotFound)), "{found:?}");
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
    let found = waiter(&w, "b").await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    w.end().await;
}
