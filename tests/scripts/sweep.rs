//! sweep, and the sweeping of every script that reads or takes permits.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, Call, CallState, PageStart, SweepReply};
use grackle_client::wire::Metadata;
use grackle_test_support::TestRedis;
use grackle_test_support::script_world::{DAY, MINUTE, NS, SEM, World, granted, lease_id, wanted};

#[tokio::test]
async fn a_sweep_says_what_waits_through_its_node_and_when_the_next_is_due() {
    let w = World::with(1, "a b").await;
    assert_eq!(
        w.sweep("n").await,
        SweepReply { sweep_in: 86_400_000_000, waiting: 0, subscribers: 0 }
    );
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let calls = [n.call("b"), n.call("b")];
    w.queue(&calls[0], 1).await;
    w.queue(&calls[1], 1).await;
    w.advance(5).await;
    assert_eq!(w.sweep("n").await, SweepReply { sweep_in: 15_000_000, waiting: 2, subscribers: 1 });
    assert_eq!(
        w.sweep("another").await,
        SweepReply { sweep_in: 15_000_000, waiting: 0, subscribers: 0 }
    );
    w.cancel(&calls[0]).await;
    assert_eq!(w.sweep("n").await.waiting, 1);
    w.cancel(&calls[1]).await;
    assert_eq!(
        w.sweep("n").await,
        SweepReply { sweep_in: 86_395_000_000, waiting: 0, subscribers: 1 }
    );
    w.end().await;
}

#[tokio::test]
async fn a_sweep_of_a_namespace_without_leases_has_nothing_to_come_back_for() {
    let w = World::of(1).await;
    assert_eq!(w.sweep("n").await, SweepReply { sweep_in: -1, waiting: 0, subscribers: 0 });
    w.scripts.delete_namespace(NS).await.unwrap();
    assert_eq!(w.sweep("n").await, SweepReply { sweep_in: -1, waiting: 0, subscribers: 0 });
    w.end().await;
}

#[tokio::test]
async fn a_sweep_ends_what_is_due_however_late_it_comes() {
    let w = World::with(3, "d e").await;
    w.semaphore("t", 1).await;
    w.lease("a", Duration::from_secs(10)).await;
    w.lease("b", Duration::from_secs(20)).await;
    w.lease("c", DAY).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.take(&n.call("b"), 1).await;
    w.take(&n.call("c"), 1).await;
    w.take(&n.call_on("t", "a"), 1).await;
    let [on_s, on_t] = [n.call("d"), n.call_on("t", "e")];
    w.queue(&on_s, 2).await;
    w.queue(&on_t, 1).await;
    w.advance(3_600).await;
    let swept = w.sweep("n").await;
    // The node's own calls had been parked, and their time was over too.
    assert_eq!((swept.sweep_in, swept.waiting), (82_800_000_000, 0));
    assert_eq!(w.picture().await, "holds c:1");
    assert_eq!(w.picture_of("t").await, "");
    w.end().await;
}

/// Every script that says "again", by one that sweeps first and then answers.
async fn run(w: &World, script: &str, call: &Call) {
    let (scripts, a, none) = (&w.scripts, lease_id("a"), Metadata::new());
    let start = PageStart::First;
    match script {
        "acquire" => drop(scripts.acquire(NS, call, wanted(1)).await.unwrap()),
        "create_lease" => drop(scripts.create_lease(NS, &a, "p", DAY, &none).await.unwrap()),
        "get_semaphore" => {
            assert_eq!(scripts.get_semaphore(NS, SEM).await.unwrap().active_holds, 0)
        }
        "time_out" => drop(scripts.time_out(NS, call, None).await.unwrap()),
        "list_leases" => {
            assert_eq!(scripts.list_leases(NS, "", &start, 9).await.unwrap().entries.len(), 1);
        }
        "list_semaphore_holders" => {
            let page = scripts.list_semaphore_holders(NS, SEM, &start, 9).await.unwrap();
            let found = &page.entries;
            assert!(found.is_empty(), "{found:?}");
        }
        "list_semaphores" => {
            let page = scripts.list_semaphores(NS, &start, 9).await.unwrap();
            assert_eq!(page.entries[0].active_holds, 0);
        }
        "release" => drop(scripts.release(NS, SEM, &a).await.unwrap()),
        "resume" => {
            let resumed = scripts.resume(NS, std::slice::from_ref(call)).await.unwrap();
            assert_eq!(resumed.1, [CallState::Unknown]);
        }
        "sweep" => drop(scripts.sweep(NS, "n").await.unwrap()),
        "update_semaphore" => {
            drop(scripts.update_semaphore("r", NS, SEM, 1, 9, "", &none).await.unwrap());
        }
        other => panic!("{other}"),
    }
}

/// What reads sweeps first. A dead node's calls are parked there too, although that writes.
#[tokio::test]
async fn a_read_does_what_is_due_where_memory_is_full() {
    let redis = TestRedis::own().await;
    let w = World::with_on(&redis, 1, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.queue(&n.call("b"), 1).await;
    n.dies().await;
    w.advance(3_600).await;
    let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let lease = w.scripts.create_lease(NS, &lease_id("c"), "p", DAY, &Metadata::new()).await;
    let found = w.scripts.get_semaphore(NS, SEM).await;
    let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(found.unwrap().waiting_count, 0, "its node is dead");
    assert!(matches!(lease, Err(Error::ResourceExhausted { .. })), "what is new: {lease:?}");
    w.end().await;
}

#[tokio::test]
async fn a_script_sweeps_until_nothing_is_due_before_it_answers() {
    let scripts = "acquire create_lease get_semaphore time_out list_leases \
        list_semaphore_holders list_semaphores release resume sweep update_semaphore";
    for script in scripts.split(' ') {
        let w = World::with(200, "a").await;
        let n = w.node("n").await;
        for number in 0..120 {
            let (lease, none) = (format!("c{number}"), Metadata::new());
            let ttl = Duration::from_secs(1);
            w.scripts.create_lease(NS, &lease_id(&lease), "p", ttl, &none).await.unwrap();
            w.scripts.acquire(NS, &n.call(&lease), wanted(1)).await.unwrap();
        }
        w.advance(1).await;
        let monitor = w.monitor().await;
        run(&w, script, &n.call("a")).await;
        assert!(w.scripts_run(monitor).await >= 3, "{script}");
        let left = w.state().await.zset(":leases").len();
        assert_eq!(left, 1, "{script}");
        w.end().await;
    }
}

#[tokio::test]
async fn a_sweep_that_comes_early_after_the_clock_went_back_does_nothing() {
    let w = World::of(1).await;
    w.lease("a", MINUTE).await;
    w.lease("b", DAY).await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    let call = n.call("b");
    w.queue_with(&call, AcquireArguments { timeout: MINUTE * 2, ..wanted(1) }).await;
    w.clock.set(w.clock.now().await - 20_000_000).await;
    let swept = w.sweep("n").await;
    assert_eq!((swept.sweep_in, swept.waiting), (15_000_000, 1));
    assert_eq!(w.picture().await, "holds a:1, queue b:1");
    for _ in 0..8 {
        w.advance(10).await;
        w.sweep("n").await;
    }
    assert_eq!(n.received().await, [granted(&[&call])]);
    w.end().await;
}

#[tokio::test]
async fn a_sweep_says_how_many_subscribe_to_its_nodes_channel() {
    let w = World::of(1).await;
    assert_eq!(w.sweep("n").await.subscribers, 0);
    let mut n = w.node("n").await;
    assert_eq!(w.sweep("n").await.subscribers, 1);
    let _again = w.node("n").await;
    assert_eq!(w.sweep("n").await.subscribers, 2);
    n.dies().await;
    assert_eq!(w.sweep("n").await.subscribers, 1);
    w.end().await;
}
