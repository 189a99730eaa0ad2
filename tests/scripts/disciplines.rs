//! Who is next: first come, last come, or by share; and bounds on how many wait.

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, Call, CallState, Outcome, SemaphoreRules};
use grackle_client::wire::QueueDiscipline::{self, Fifo, Lifo, Unspecified, Weighted};
use grackle_client::wire::{Metadata, Semaphore};

use grackle_test_support::script_world::{
    DAY, MINUTE, NS, Node, SEM, World, granted, lease_id, wanted,
};

/// A semaphore whose queue has that discipline, and a day's leases: `a b` of p, `c d` of q, `e f` of
/// r. The lease `z` holds all of it.
async fn world(discipline: QueueDiscipline, permits: i64) -> (World, Node) {
    let w = World::new().await;
    create(&w, SemaphoreRules { discipline, ..permits.into() }).await;
    for (process, leases) in [("p", ["a", "b"]), ("q", ["c", "d"]), ("r", ["e", "f"])] {
        for lease in leases {
            leased(&w, lease, process).await;
        }
    }
    leased(&w, "z", "z").await;
    let n = w.node("n").await;
    w.take(&n.call("z"), permits).await;
    (w, n)
}

async fn create(w: &World, rules: SemaphoreRules) -> Semaphore {
    let made = w.scripts.create_semaphore("made", NS, SEM, rules, "", &Metadata::new()).await;
    w.check().await;
    made.unwrap()
}

async fn leased(w: &World, lease: &str, process: &str) {
    let none = Metadata::new();
    w.scripts.create_lease(NS, &lease_id(lease), process, DAY, &none).await.unwrap();
}

async fn update(w: &World, rules: SemaphoreRules) -> Semaphore {
    let (version, none) = (w.get().await.version, Metadata::new());
    let request = format!("update-{version}");
    let updated = w.scripts.update_semaphore(&request, NS, SEM, version, rules, "", &none).await;
    w.check().await;
    updated.unwrap()
}

async fn turn_to(w: &World, discipline: QueueDiscipline) -> Semaphore {
    let permits = w.get().await.permits;
    update(w, SemaphoreRules { discipline, ..permits.into() }).await
}

fn shared(weight: i64, share: i64) -> AcquireArguments<'static> {
    AcquireArguments { share, ..wanted(weight) }
}

/// One call of each lease, in that order, `a:3` for a weight of 3.
async fn queue(w: &World, n: &Node, leases: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    for lease in leases.split(' ') {
        let (lease, weight) = lease.split_once(':').unwrap_or((lease, "1"));
        let call = n.call(lease);
        w.queue(&call, weight.parse().unwrap()).await;
        calls.push(call);
    }
    calls
}

/// The queue alone, `a b c`.
async fn line(w: &World) -> String {
    let picture = w.picture().await;
    let queue = picture.split(", ").find_map(|part| part.strip_prefix("queue "));
    let leases = queue.unwrap_or_default().split(' ').filter_map(|entry| entry.split(':').next());
    leases.collect::<Vec<_>>().join(" ")
}

/// The virtual time at which a flow began to wait: it starts a hair before.
async fn started_at(w: &World, lease: &str) -> i64 {
    let start = w.wait(lease).await.start.unwrap();
    assert!(start > 0.0 && start < start.ceil(), "{start}");
    start.ceil() as i64
}

#[tokio::test]
async fn a_new_semaphore_is_first_come_first_served_unless_it_is_told() {
    let w = World::new().await;
    let made = create(&w, 3.into()).await;
    assert_eq!((made.queue_discipline, made.max_waiters), (Fifo, None));
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    let rules = SemaphoreRules { permits: 3, discipline: Lifo, max_waiters: Some(7) };
    let made = w.scripts.create_semaphore("anew", NS, SEM, rules, "", &Metadata::new()).await;
    let made = made.unwrap();
    assert_eq!((made.queue_discipline, made.max_waiters), (Lifo, Some(7)));
    assert_eq!(w.get().await, made);
    w.end().await;
}

#[tokio::test]
async fn an_update_keeps_what_it_does_not_name() {
    let w = World::new().await;
    create(&w, SemaphoreRules { permits: 3, discipline: Weighted, max_waiters: Some(7) }).await;
    let kept = update(&w, 5.into()).await;
    assert_eq!((kept.queue_discipline, kept.max_waiters), (Weighted, Some(7)));
    let removed =
        update(&w, SemaphoreRules { permits: 5, discipline: Fifo, max_waiters: Some(0) }).await;
    assert_eq!((removed.queue_discipline, removed.max_waiters), (Fifo, None));
    w.end().await;
}

#[tokio::test]
async fn by_arrival_nobody_is_overtaken_whatever_the_weights() {
    let (w, mut n) = world(Fifo, 5).await;
    let calls = queue(&w, &n, "a:5 c:1 b:4 e:1").await;
    assert_eq!(line(&w).await, "a c b e");
    w.release("z").await;
    w.release("a").await;
    let [a, c, b, e] = [&calls[0], &calls[1], &calls[2], &calls[3]];
    assert_eq!(n.received().await, [granted(&[a]), granted(&[c]), granted(&[b])]);
    w.release("b").await;
    assert_eq!(n.received().await, [granted(&[e])]);
    w.end().await;
}

#[tokio::test]
async fn last_come_is_first_served() {
    let (w, mut n) = world(Lifo, 1).await;
    let calls = queue(&w, &n, "a c e").await;
    assert_eq!(line(&w).await, "e c a");
    w.release("z").await;
    w.release("e").await;
    w.release("c").await;
    let right: Vec<_> = calls.iter().rev().map(|call| granted(&[call])).collect();
    assert_eq!(n.received().await, right);
    w.end().await;
}

#[tokio::test]
async fn the_last_to_come_goes_ahead_where_it_fits_and_holds_the_others_up_where_not() {
    let (w, mut n) = world(Lifo, 4).await;
    let first = n.call("a");
    w.queue(&first, 4).await;
    // Two are free: too few for the head, enough for whoever comes after it.
    w.take(&n.call("z"), 2).await;
    w.take(&n.call("c"), 1).await;
    let heavy = n.call("e");
    w.queue(&heavy, 2).await;
    w.queue(&n.call("f"), 3).await;
    assert_eq!(line(&w).await, "f e a");
    w.release("c").await;
    assert!(n.received().await.is_empty(), "e would fit, and f stands before it");
    w.end().await;
}

#[tokio::test]
async fn holds_that_grow_go_ahead_by_arrival_under_each_discipline() {
    for discipline in [Fifo, Lifo, Weighted] {
        let w = World::new().await;
        create(&w, SemaphoreRules { discipline, ..4.into() }).await;
        w.leases("a b c d").await;
        let mut n = w.node("n").await;
        w.take(&n.call("a"), 2).await;
        w.take(&n.call("b"), 2).await;
        w.queue(&n.call("c"), 1).await;
        let (b, a) = (n.call("b"), n.call("a"));
        w.queue(&b, 3).await;
        w.queue(&a, 3).await;
        w.queue(&n.call("d"), 1).await;
        assert!(line(&w).await.starts_with("b a "), "{discipline:?}: {}", line(&w).await);
        w.release("a").await;
        let received = n.received().await;
        assert_eq!(received[0], granted(&[&b]), "{discipline:?}");
        // Whoever holds nothing any more stands as all others do.
        let right = match discipline {
            Lifo => ("holds b:3 d:1", "a c"),
            _ => ("holds b:3 c:1", "a d"),
        };
        assert!(w.picture().await.starts_with(right.0), "{discipline:?}: {}", w.picture().await);
        assert_eq!(line(&w).await, right.1, "{discipline:?}");
        w.end().await;
    }
}

#[tokio::test]
async fn processes_take_turns_however_many_waiters_they_have() {
    let (w, n) = world(Weighted, 1).await;
    for lease in ["a2", "a3", "a4"] {
        leased(&w, lease, "p").await;
    }
    queue(&w, &n, "a b a2 a3 a4 c d e").await;
    assert_eq!(line(&w).await, "a c e b d a2 a3 a4");
    w.end().await;
}

#[tokio::test]
async fn a_share_of_two_gets_twice_as_much_and_a_weight_of_two_counts_twice() {
    let (w, n) = world(Weighted, 4).await;
    for lease in ["a2", "a3"] {
        leased(&w, lease, "p").await;
    }
    for lease in ["a", "b", "a2", "a3"] {
        w.queue_with(&n.call(lease), shared(1, 2)).await;
    }
    w.queue_with(&n.call("c"), shared(1, 1)).await;
    w.queue_with(&n.call("d"), shared(2, 1)).await;
    // p finishes at 0.5, 1, 1.5, 2; q at 1 and 3.
    assert_eq!(line(&w).await, "a b c a2 a3 d");
    w.end().await;
}

#[tokio::test]
async fn calls_that_come_while_their_node_subscribes_are_no_more_than_their_turn() {
    let (w, mut n) = world(Weighted, 1).await;
    for lease in ["c2", "c3"] {
        leased(&w, lease, "q").await;
    }
    for lease in ["a2", "a3"] {
        leased(&w, lease, "p").await;
    }
    let late = ["a", "b", "a2", "a3"].map(|lease| n.call(lease));
    for call in &late {
        w.queue_with(call, AcquireArguments { listening: false, ..wanted(1) }).await;
    }
    queue(&w, &n, "c d c2 c3").await;
    for call in &late {
        assert_eq!(w.resume(call).await, CallState::Waiting);
    }
    assert_eq!(line(&w).await, "a c b d a2 c2 a3 c3");
    // Who has listened once keeps its place.
    for call in &late[1..] {
        w.park(call, false, MINUTE).await;
    }
    for call in late[1..].iter().rev() {
        w.resume(call).await;
    }
    assert_eq!(line(&w).await, "a c b d a2 c2 a3 c3");
    w.release("z").await;
    assert_eq!(n.received().await, [granted(&[&late[0]])]);
    w.end().await;
}

/// More than are moved at once, in whatever order, with a grant in between.
#[tokio::test]
async fn a_crowd_that_was_parked_comes_back_to_its_turns() {
    let (w, mut n) = world(Weighted, 1).await;
    let mut calls = [Vec::new(), Vec::new()];
    for number in 0..150 {
        for (calls, process) in calls.iter_mut().zip(["p", "q"]) {
            if process == "p" || number < 50 {
                calls.push(come(&w, &n, format!("{process}{number}"), process).await.1);
            }
        }
    }
    let [mine, others] = calls;
    let back = |call: &Call| (call.clone(), MINUTE);
    let parked: Vec<_> = mine.iter().map(back).collect();
    w.scripts.park(NS, false, &parked).await.unwrap();
    w.check().await;
    w.release("z").await;
    assert_eq!(n.received().await, [granted(&[&others[0]])]);
    let (mut now, mut rng) = (mine.clone(), fastrand::Rng::with_seed(7));
    rng.shuffle(&mut now);
    for call in &now {
        w.scripts.resume(NS, std::slice::from_ref(call)).await.unwrap();
    }
    w.check().await;
    let (mut holder, mut order) = ("q0".to_owned(), Vec::new());
    for _ in 0..100 {
        w.scripts.release(NS, SEM, &lease_id(&holder)).await.unwrap();
        let told = n.received().await;
        let all = mine.iter().chain(&others);
        let next = all.clone().find(|call| told == [granted(&[call])]).unwrap();
        holder = next.lease_id.trim_start_matches("ls_").trim_end_matches('X').to_owned();
        order.push(holder.clone());
    }
    w.check().await;
    let of = |process: char| order.iter().filter(move |lease| lease.starts_with(process));
    for process in ['p', 'q'] {
        let first = usize::from(process == 'q');
        let right = (first..).map(|number| format!("{process}{number}"));
        assert!(of(process).cloned().eq(right.take(of(process).count())), "{order:?}");
    }
    // p had waited at 0 when q was granted once.
    for granted in 1..=order.len() {
        let mine = order[..granted].iter().filter(|lease| lease.starts_with('p')).count();
        assert!(granted.abs_diff(2 * mine) <= 2, "{order:?}");
    }
    w.end().await;
}

#[tokio::test]
async fn asked_again_by_a_subscribed_node_a_call_has_the_turn_of_its_arrival() {
    let (w, n) = world(Weighted, 1).await;
    let late = n.call("b");
    w.queue_with(&late, AcquireArguments { listening: false, ..wanted(1) }).await;
    queue(&w, &n, "a c d").await;
    assert_eq!(line(&w).await, "a c d");
    w.queue(&late, 1).await;
    assert_eq!(line(&w).await, "b c a d");
    w.end().await;
}

#[tokio::test]
async fn a_process_that_was_idle_has_no_credit() {
    let (w, mut n) = world(Weighted, 1).await;
    queue(&w, &n, "a b e f").await;
    w.release("z").await;
    w.release("a").await;
    assert_eq!(n.received().await.len(), 2);
    // The virtual time is 1, of a and e. Who comes now starts there, not at 0.
    let waits = queue(&w, &n, "c d").await;
    assert_eq!(line(&w).await, "c b f d");
    assert_eq!(started_at(&w, "c").await, 1);
    w.cancel(&waits[0]).await;
    w.end().await;
}

#[tokio::test]
async fn what_is_granted_at_once_while_others_wait_is_charged() {
    let (w, n) = world(Weighted, 4).await;
    w.queue(&n.call("a"), 4).await;
    // Finishes at 1, before a: one free permit is enough.
    w.take(&n.call("z"), 2).await;
    w.take(&n.call("c"), 1).await;
    w.queue(&n.call("d"), 2).await;
    assert_eq!(started_at(&w, "d").await, 1);
    assert_eq!(line(&w).await, "d a");
    w.end().await;
}

#[tokio::test]
async fn time_begins_anew_when_nobody_waits() {
    let (w, n) = world(Weighted, 1).await;
    queue(&w, &n, "a c").await;
    w.release("z").await;
    w.release("a").await;
    assert_eq!(line(&w).await, "");
    queue(&w, &n, "e").await;
    assert_eq!(w.wait("e").await.start, Some(0.0));
    w.end().await;
}

#[tokio::test]
async fn who_leaves_without_a_grant_is_not_charged_to_those_behind_it() {
    let (w, n) = world(Weighted, 9).await;
    let heavy = n.call("a");
    w.queue(&heavy, 9).await;
    w.queue(&n.call("b"), 1).await;
    queue(&w, &n, "c:2 d:2").await;
    assert_eq!(line(&w).await, "c d a b");
    w.cancel(&heavy).await;
    assert_eq!(line(&w).await, "b c d");
    w.end().await;
}

#[tokio::test]
async fn a_process_whose_calls_give_up_is_served_as_much_as_one_whose_calls_stay() {
    let (w, mut n) = world(Weighted, 1).await;
    let mut stay = Vec::new();
    for number in 0..30 {
        stay.push(come(&w, &n, format!("q{number}"), "q").await);
    }
    let (mut holder, mut hurry, mut served) = ("z".to_owned(), Vec::new(), 0);
    for round in 0..40 {
        // Three come and one is granted at most; all others give up in the end.
        for number in 0..3 {
            hurry.push(come(&w, &n, format!("p{round}n{number}"), "p").await);
        }
        while hurry.len() > 4 {
            w.time_out(&hurry.remove(0).1).await.unwrap();
        }
        w.release(&holder).await;
        let told = n.received().await;
        let is_told = |(_, call): &(String, Call)| told == [granted(&[call])];
        let mine = hurry.iter().position(is_told).map(|at| hurry.remove(at));
        served += i32::from(mine.is_some());
        holder = mine.unwrap_or_else(|| stay.remove(stay.iter().position(is_told).unwrap())).0;
    }
    assert!((19..=21).contains(&served), "{served} of 40");
    w.end().await;
}

/// A new lease of that process, whose call has to wait.
async fn come(w: &World, n: &Node, lease: String, process: &str) -> (String, Call) {
    leased(w, &lease, process).await;
    let call = n.call(&lease);
    w.queue(&call, 1).await;
    (lease, call)
}

#[tokio::test]
async fn a_call_that_asks_for_less_or_more_keeps_its_place_among_its_own_and_moves_among_others() {
    let (w, n) = world(Weighted, 9).await;
    w.queue(&n.call("a"), 4).await;
    queue(&w, &n, "b:2 c:5").await;
    assert_eq!(line(&w).await, "a c b");
    w.queue(&n.call("a"), 1).await;
    assert_eq!(w.wait("a").await.score, 1.0);
    w.queue(&n.call("a"), 6).await;
    // b makes room for it.
    assert_eq!((w.wait("b").await.start, w.wait("b").await.score), (Some(6.0), 8.0));
    assert_eq!(line(&w).await, "c a b");
    w.end().await;
}

#[tokio::test]
async fn a_grant_that_is_undone_leaves_its_place_as_it_was() {
    for discipline in [Fifo, Lifo, Weighted] {
        let (w, n) = world(discipline, 1).await;
        let calls = queue(&w, &n, "a b c d").await;
        let before = line(&w).await;
        let order: Vec<_> = before.split(' ').collect();
        let call = calls.iter().find(|call| call.lease_id == lease_id(order[0])).unwrap();
        w.release("z").await;
        w.park(call, true, MINUTE).await;
        assert_eq!(w.resume(call).await, CallState::Waiting, "{discipline:?}");
        // The next has got the permit meanwhile.
        assert_eq!(line(&w).await, [order[0], order[2], order[3]].join(" "), "{discipline:?}");
        w.end().await;
    }
}

#[tokio::test]
async fn another_discipline_re_orders_all_who_wait() {
    let (w, n) = world(Unspecified, 3).await;
    let calls = queue(&w, &n, "a b c d e:2").await;
    w.park(&calls[3], true, MINUTE).await;
    let seen = turn_to(&w, Lifo).await;
    assert_eq!((seen.queue_discipline, seen.waiting_count), (Lifo, 4));
    assert_eq!(line(&w).await, "e c b a");
    turn_to(&w, Weighted).await;
    assert_eq!(line(&w).await, "a c b e");
    assert_eq!(w.wait("d").await.start, Some(1.0), "behind c of its process");
    turn_to(&w, Fifo).await;
    assert_eq!(line(&w).await, "a b c e");
    w.end().await;
}

#[tokio::test]
async fn whoever_is_next_by_the_new_order_is_admitted_at_once() {
    let (w, mut n) = world(Fifo, 3).await;
    let calls = queue(&w, &n, "a:3 c:1").await;
    w.take(&n.call("z"), 2).await;
    assert_eq!(n.received().await, [""; 0]);
    turn_to(&w, Lifo).await;
    assert_eq!(n.received().await, [granted(&[&calls[1]])]);
    assert_eq!(w.picture().await, "holds c:1 z:2, queue a:3");
    w.end().await;
}

#[tokio::test]
async fn more_than_max_waiters_are_refused_at_the_door() {
    let (w, mut n) = world(Fifo, 2).await;
    update(&w, SemaphoreRules { max_waiters: Some(2), ..2.into() }).await;
    let calls = queue(&w, &n, "a c").await;
    let refused = w.ask(&n.call("e"), wanted(1)).await;
    let full =
        |reply| matches!(reply, Err(Error::ResourceExhausted { limit }) if limit == "max_waiters");
    assert!(full(refused));
    // Another call of one that waits is no further waiter.
    w.queue(&n.call("a"), 1).await;
    // Those who are parked count: they may come back.
    w.park(&calls[1], true, MINUTE).await;
    assert!(full(w.ask(&n.call("e"), wanted(1)).await));
    // Fewer than there are: they stay, nobody joins them.
    update(&w, SemaphoreRules { max_waiters: Some(1), ..2.into() }).await;
    assert_eq!(line(&w).await, "a");
    w.release("z").await;
    assert_eq!(n.received().await.len(), 1);
    let reply = w.ask(&n.call("e"), wanted(1)).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Acquired, "who need not wait is not refused");
    update(&w, SemaphoreRules { max_waiters: Some(0), ..2.into() }).await;
    queue(&w, &n, "d f").await;
    w.end().await;
}
