//! How many commands each script calls: a table that may only shrink.
//!
//! `GRACKLE_PRINT_COUNTS=1 cargo test --test scripts call_counts -- --nocapture` prints it anew.

use std::time::Duration;

use grackle_client::scripts::{AcquireArguments, Call, PageStart, Scripts, SemaphoreRules};
use grackle_client::wire::{Metadata, QueueDiscipline};

use grackle_test_support::script_world::{DAY, MINUTE, NS, Node, SEM, World, lease_id, wanted};
use grackle_test_support::{OwnRedis, TestRedis};

/// A situation, and the most commands that its script may call.
const COUNTS: [(&str, u64); 45] = [
    ("create_namespace", 13),
    ("get_namespace", 4),
    ("update_namespace", 5),
    ("create_semaphore", 14),
    ("get_semaphore", 6),
    ("update_semaphore", 13),
    ("create_lease", 15),
    ("get_lease", 8),
    ("refresh_lease", 10),
    ("acquire, nobody waits", 11),
    ("acquire, the same call again", 10),
    ("acquire, unavailable", 11),
    ("acquire, explained", 20),
    ("acquire, less weight", 14),
    ("list_semaphore_holders", 9),
    ("release, nobody waits", 10),
    ("release, not held", 8),
    ("acquire, queues", 25),
    ("acquire, joins a queue", 28),
    ("release, hands off", 31),
    ("acquire, queues LIFO", 25),
    ("acquire, joins a LIFO queue", 28),
    ("release, hands off LIFO", 31),
    ("acquire, queues WEIGHTED", 28),
    ("acquire, joins a WEIGHTED queue", 33),
    ("release, hands off WEIGHTED", 38),
    ("sweep, nothing due", 10),
    ("list_semaphore_waiters", 13),
    ("get_semaphore_waiter", 17),
    ("park", 20),
    ("resume", 22),
    ("resume, nothing to do", 10),
    ("time_out", 22),
    ("cancel", 17),
    ("revoke_lease, a hold, hands off", 33),
    ("watch", 10),
    ("list_semaphores", 11),
    ("list_leases", 13),
    ("down", 12),
    ("up", 14),
    ("disown", 24),
    ("refresh_proxy_leases", 5),
    ("delete_semaphore, one holder", 14),
    ("sweep, a lease is due", 31),
    ("delete_namespace", 38),
];

struct Counter<'a> {
    redis: &'a OwnRedis,
    counts: Vec<(&'static str, u64)>,
}

impl Counter<'_> {
    /// Counts the commands inside the one script that `step` runs.
    async fn count<T>(&mut self, what: &'static str, step: impl Future<Output = T>) -> T {
        let before = self.redis.command_calls().await;
        let result = step.await;
        let calls = self.redis.command_calls().await.since(&before);
        let outside = ["evalsha", "script|load", "info"];
        self.counts.push((what, calls.without(&outside).total()));
        result
    }
}

async fn create(scripts: &Scripts, name: &str, permits: i64, discipline: QueueDiscipline) {
    let rules = SemaphoreRules { discipline, ..permits.into() };
    scripts.create_semaphore(name, NS, name, rules, "", &Metadata::new()).await.unwrap();
}

async fn lease(scripts: &Scripts, name: &str, process: &str) {
    scripts.create_lease(NS, &lease_id(name), process, DAY, &Metadata::new()).await.unwrap();
}

fn at_once() -> AcquireArguments<'static> {
    AcquireArguments { timeout: Duration::ZERO, ..wanted(1) }
}

/// Acquires and releases on a semaphore of one permit, with a queue of two behind it.
async fn queue(counter: &mut Counter<'_>, s: &Scripts, n: &Node, names: [&'static str; 4]) {
    let [name, queued, first, released] = names;
    let calls = ["a", "b", "c"].map(|lease| n.call_on(name, lease));
    s.acquire(NS, &calls[0], wanted(1)).await.unwrap();
    counter.count(first, s.acquire(NS, &calls[1], wanted(1))).await.unwrap();
    counter.count(queued, s.acquire(NS, &calls[2], wanted(1))).await.unwrap();
    counter.count(released, s.release(NS, name, &calls[0].lease_id)).await.unwrap();
    s.release(NS, name, &calls[1].lease_id).await.unwrap();
    s.release(NS, name, &calls[2].lease_id).await.unwrap();
}

#[tokio::test]
async fn no_script_calls_more_commands_than_before() {
    let redis = TestRedis::own().await;
    let world = World::on(TestRedis::at(redis.url().to_owned()).await).await;
    let (s, none, first) = (&world.scripts, Metadata::new(), PageStart::First);
    let n = world.node("n").await;
    let mut counter = Counter { redis: &redis, counts: Vec::new() };
    let c = &mut counter;

    c.count("create_namespace", s.create_namespace("r", NS, "", &none)).await.unwrap();
    c.count("get_namespace", s.get_namespace(NS)).await.unwrap();
    c.count("update_namespace", s.update_namespace("u", NS, 1, "d", &none)).await.unwrap();
    let make = s.create_semaphore("r", NS, SEM, 2, "", &none);
    c.count("create_semaphore", make).await.unwrap();
    c.count("get_semaphore", s.get_semaphore(NS, SEM)).await.unwrap();
    let update = s.update_semaphore("u", NS, SEM, 1, 2, "d", &none);
    c.count("update_semaphore", update).await.unwrap();
    let a = lease_id("a");
    let make = s.create_lease(NS, &a, "p", DAY, &none);
    c.count("create_lease", make).await.unwrap();
    for name in ["b", "c", "d"] {
        lease(s, name, if name == "b" { "q" } else { "p" }).await;
    }
    c.count("get_lease", s.get_lease(NS, &lease_id("a"))).await.unwrap();
    c.count("refresh_lease", s.refresh_lease(NS, &lease_id("a"), DAY)).await.unwrap();

    let call = n.call("a");
    c.count("acquire, nobody waits", s.acquire(NS, &call, wanted(2))).await.unwrap();
    c.count("acquire, the same call again", s.acquire(NS, &call, wanted(2))).await.unwrap();
    c.count("acquire, unavailable", s.acquire(NS, &n.call("b"), at_once())).await.unwrap();
    let explained = AcquireArguments { explain: true, ..at_once() };
    c.count("acquire, explained", s.acquire(NS, &n.call("b"), explained)).await.unwrap();
    c.count("acquire, less weight", s.acquire(NS, &n.call("a"), wanted(1))).await.unwrap();
    c.count("list_semaphore_holders", s.list_semaphore_holders(NS, SEM, &first, 9)).await.unwrap();
    c.count("release, nobody waits", s.release(NS, SEM, &lease_id("a"))).await.unwrap();
    c.count("release, not held", s.release(NS, SEM, &lease_id("a"))).await.unwrap();

    for (name, discipline) in [
        ("fifo", QueueDiscipline::Fifo),
        ("lifo", QueueDiscipline::Lifo),
        ("weighted", QueueDiscipline::Weighted),
    ] {
        create(s, name, 1, discipline).await;
    }
    queue(c, s, &n, ["fifo", "acquire, joins a queue", "acquire, queues", "release, hands off"])
        .await;
    queue(
        c,
        s,
        &n,
        ["lifo", "acquire, joins a LIFO queue", "acquire, queues LIFO", "release, hands off LIFO"],
    )
    .await;
    queue(
        c,
        s,
        &n,
        [
            "weighted",
            "acquire, joins a WEIGHTED queue",
            "acquire, queues WEIGHTED",
            "release, hands off WEIGHTED",
        ],
    )
    .await;

    let [held, parked, timed_out, cancelled] = ["a", "b", "c", "d"].map(|l| n.call_on("fifo", l));
    s.acquire(NS, &held, wanted(1)).await.unwrap();
    for call in [&parked, &timed_out, &cancelled] {
        s.acquire(NS, call, wanted(1)).await.unwrap();
    }
    c.count("sweep, nothing due", s.sweep(NS, "n")).await.unwrap();
    c.count("list_semaphore_waiters", s.list_semaphore_waiters(NS, "fifo", &first, 9, ""))
        .await
        .unwrap();
    let waiter = s.get_semaphore_waiter(NS, "fifo", &parked.lease_id);
    c.count("get_semaphore_waiter", waiter).await.unwrap();
    let keep = [(parked.clone(), MINUTE)];
    c.count("park", s.park(NS, false, &keep)).await.unwrap();
    let calls: [Call; 1] = [parked.clone()];
    c.count("resume", s.resume(NS, &calls)).await.unwrap();
    c.count("resume, nothing to do", s.resume(NS, &calls)).await.unwrap();
    c.count("time_out", s.time_out(NS, &timed_out, None)).await.unwrap();
    c.count("cancel", s.cancel(NS, &cancelled)).await.unwrap();
    c.count("revoke_lease, a hold, hands off", s.revoke_lease(NS, &lease_id("a"))).await.unwrap();
    c.count("watch", s.watch(NS, "fifo")).await.unwrap();
    c.count("list_semaphores", s.list_semaphores(NS, &first, 9)).await.unwrap();
    c.count("list_leases", s.list_leases(NS, "", &first, 9)).await.unwrap();

    c.count("down", s.down(NS, SEM, "n:1000", &[])).await.unwrap();
    c.count("up", s.up(NS, SEM, "n:1001", &["n:1000".to_owned()])).await.unwrap();
    let call = n.call("c");
    s.acquire(NS, &call, wanted(1)).await.unwrap();
    c.count("disown", s.disown(NS, SEM, &call.lease_id, &[])).await.unwrap();
    c.count("refresh_proxy_leases", s.refresh_proxy_leases(NS, DAY, &[lease_id("b")]))
        .await
        .unwrap();
    c.count("delete_semaphore, one holder", s.delete_semaphore(NS, "fifo")).await.unwrap();
    c.count("sweep, a lease is due", async {
        world.clock.advance(2 * DAY).await;
        s.sweep(NS, "n").await
    })
    .await
    .unwrap();
    c.count("delete_namespace", s.delete_namespace(NS)).await.unwrap();

    if std::env::var_os("GRACKLE_PRINT_COUNTS").is_some() {
        counter.counts.iter().for_each(|(what, count)| println!("    ({what:?}, {count}),"));
        return;
    }
    let names =
        |counts: &[(&'static str, u64)]| counts.iter().map(|(what, _)| *what).collect::<Vec<_>>();
    assert_eq!(names(&counter.counts), names(&COUNTS), "the situations of the table");
    let more = counter.counts.iter().zip(COUNTS).filter(|((_, now), (_, most))| now > most);
    let more: Vec<_> =
        more.map(|((what, now), (_, most))| format!("{what}: {now} for {most}")).collect();
    assert!(more.is_empty(), "more commands than before: {more:#?}");
}
