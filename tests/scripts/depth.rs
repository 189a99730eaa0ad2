//! Long queues: what a process gets beside one with ten thousand waiters, and what it costs to stand
//! in such a queue and to be handed on from it.
//!
//! What a script does in Redis is counted exactly, so that can't depend on how busy a machine is; how
//! long it takes is measured by `make bench`, which runs the test that is ignored here.

use std::collections::VecDeque;

use futures_util::{StreamExt, stream};
use grackle_client::scripts::{AcquireArguments, Call, Outcome, Scripts, SemaphoreRules};
use grackle_client::wire::{Metadata, QueueDiscipline as Discipline};

use grackle_test_support::script_world::{DAY, MINUTE, NS, Node, World, granted, lease_id, wanted};
use grackle_test_support::{CommandCalls, OwnRedis, TestRedis};

const CROWD: usize = 10_000;
const FEW: usize = 10;
/// Processes of a measured queue.
const FLOWS: usize = 2;
/// How many enter, and how many are granted, between two looks at what was done.
const BATCH: usize = 5;
const DISCIPLINES: [Discipline; 3] = [Discipline::Fifo, Discipline::Lifo, Discipline::Weighted];

/// A queue of a length, on a semaphore of one permit, with leases of its own.
struct Line<'a> {
    scripts: &'a Scripts,
    name: String,
    /// Who holds the permit, who waits, and who does neither.
    holder: Call,
    waits: Vec<Call>,
    idle: VecDeque<String>,
    numbers: std::ops::RangeFrom<usize>,
    node: String,
}

impl<'a> Line<'a> {
    async fn new(
        scripts: &'a Scripts,
        name: &str,
        node: &str,
        discipline: Discipline,
        length: usize,
    ) -> Line<'a> {
        let (rules, none) = (SemaphoreRules { discipline, ..1.into() }, Metadata::new());
        scripts.create_semaphore(name, NS, name, rules, "", &none).await.unwrap();
        let leases: Vec<_> = (0..=length + BATCH).map(|lease| format!("{name}{lease}")).collect();
        beside(leases.iter().enumerate().map(async |(number, lease)| {
            let (lease, process, none) =
                (lease_id(lease), format!("p{}", number % FLOWS), Metadata::new());
            scripts.create_lease(NS, &lease, &process, DAY, &none).await.unwrap();
        }))
        .await;
        let holder =
            Call { lease_id: String::new(), semaphore: name.to_owned(), ticket: String::new() };
        let (waits, idle) = (Vec::new(), leases.into());
        let (name, node) = (name.to_owned(), node.to_owned());
        let mut line = Self { scripts, name, holder, waits, idle, numbers: 0.., node };
        line.holder = line.enter(1).await.remove(0);
        line.waits = line.enter(length).await;
        line
    }

    /// So many that have nothing come and ask for the permit.
    async fn enter(&mut self, count: usize) -> Vec<Call> {
        let leases: Vec<_> = self.idle.drain(..count).collect();
        let number = |_| self.numbers.next().unwrap();
        let numbers: Vec<_> = (0..count).map(number).collect();
        let calls = leases.iter().zip(numbers).map(|(lease, number)| Call {
            lease_id: lease_id(lease),
            semaphore: self.name.clone(),
            ticket: format!("{}:{}{number}", self.node, self.name),
        });
        let calls: Vec<_> = calls.collect();
        let wanted = AcquireArguments { timeout: MINUTE * 60, ..wanted(1) };
        beside(calls.iter().map(async |call| {
            drop(self.scripts.acquire(NS, call, wanted).await.unwrap());
        }))
        .await;
        calls
    }

    /// As many as a batch is come, and are granted: what each of the two took, by that measure.
    async fn turn<T>(&mut self, node: &mut Node, look: impl AsyncFn() -> T) -> [(T, T); 2] {
        let before = look().await;
        let came = self.enter(BATCH).await;
        let between = (look().await, look().await);
        self.waits.extend(came);
        let mut told = Vec::new();
        for _ in 0..BATCH {
            self.scripts.release(NS, &self.name, &self.holder.lease_id).await.unwrap();
            told.extend(node.received().await);
            let last = told.last().unwrap();
            let next = self.waits.iter().position(|call| *last == granted(&[call])).unwrap();
            let next = self.waits.swap_remove(next);
            let short = std::mem::replace(&mut self.holder, next).lease_id;
            self.idle.push_back(short[3..].trim_end_matches('X').to_owned());
        }
        let after = look().await;
        assert_eq!(told.len(), BATCH, "one is granted by each release: {told:?}");
        [(before, between.0), (between.1, after)]
    }
}

/// A few at a time, begun in their order.
async fn beside<T>(all: impl IntoIterator<Item = impl Future<Output = T>>) {
    stream::iter(all).buffered(64).for_each(async |_| ()).await;
}

async fn world_on(redis: &OwnRedis) -> World {
    let world = World::on(TestRedis::at(redis.url().to_owned()).await).await;
    world.scripts.create_namespace("made", NS, "", &Metadata::new()).await.unwrap();
    world
}

#[tokio::test]
async fn a_process_with_one_waiter_gets_every_second_permit_beside_one_with_ten_thousand() {
    let w = World::new().await;
    let (rules, none) =
        (SemaphoreRules { discipline: Discipline::Weighted, ..1.into() }, Metadata::new());
    w.scripts.create_semaphore("made", NS, "s", rules, "", &none).await.unwrap();
    let mut n = w.node("n").await;
    let lease = async |name: String, process| {
        w.scripts.create_lease(NS, &lease_id(&name), process, DAY, &none).await.unwrap();
        let call = n.call(&name);
        (
            w.scripts
                .acquire(NS, &call, AcquireArguments { timeout: MINUTE * 60, ..wanted(1) })
                .await
                .unwrap(),
            call,
        )
    };
    lease("z".to_owned(), "z").await;
    beside((0..CROWD).map(|number| lease(format!("c{number}"), "crowd"))).await;
    let (reply, mut one) = lease("one".to_owned(), "one").await;
    assert_eq!(reply.outcome, Outcome::Waiting);
    let (mut holder, mut turns) = (lease_id("z"), Vec::new());
    for _ in 0..200 {
        w.scripts.release(NS, "s", &holder).await.unwrap();
        if holder == one.lease_id {
            // It comes again at once.
            one = n.call("one");
            let reply = w.scripts.acquire(NS, &one, wanted(1)).await.unwrap();
            assert_eq!(reply.outcome, Outcome::Waiting);
        }
        n.received().await;
        let holders = w.scripts.list_semaphore_holders(
            NS,
            "s",
            &grackle_client::scripts::PageStart::First,
            2,
        );
        holder = holders.await.unwrap().entries.remove(0).lease_id;
        turns.push(holder == one.lease_id);
    }
    let first = turns.iter().position(|turn| *turn).unwrap();
    assert!(first <= 1, "{turns:?}");
    let right = (0..200).map(|turn| turn % 2 == first % 2).collect::<Vec<_>>();
    assert_eq!(turns, right);
    w.scripts.delete_namespace(NS).await.unwrap();
}

#[tokio::test]
async fn to_enter_and_to_be_granted_take_as_many_commands_at_ten_thousand_waiters_as_at_ten() {
    let redis = TestRedis::own().await;
    let w = world_on(&redis).await;
    let mut n = w.node("n").await;
    for discipline in DISCIPLINES {
        let mut taken = Vec::new();
        for (name, length) in [("few", FEW), ("crowd", CROWD)] {
            let mut line = Line::new(&w.scripts, name, &n.id, discipline, length).await;
            line.turn(&mut n, async || ()).await;
            let turn = line.turn(&mut n, async || redis.command_calls().await).await;
            taken.push(turn.map(|(before, after)| of_scripts(&after.since(&before))));
        }
        assert_eq!(taken[0], taken[1], "{discipline:?}");
        // And they were none that grow with the queue.
        for command in ["zcard", "zadd", "zrange", "hget", "hset"] {
            assert!(taken[1][1].of(command) <= 12 * BATCH as u64, "{discipline:?}: {:?}", taken[1]);
        }
        w.scripts.delete_namespace(NS).await.unwrap();
        w.scripts.create_namespace("made", NS, "", &Metadata::new()).await.unwrap();
        n.received().await;
    }
}

/// Without what this test itself asks.
fn of_scripts(calls: &CommandCalls) -> CommandCalls {
    calls.without(&["info", "publish", "ping"])
}

#[tokio::test]
#[ignore = "its verdict is a time: make bench runs it alone"]
async fn to_enter_and_to_be_granted_take_at_most_a_third_longer_at_ten_thousand_than_at_ten() {
    const TURNS: usize = 120;
    let redis = TestRedis::own().await;
    let w = world_on(&redis).await;
    let mut n = w.node("n").await;
    for discipline in DISCIPLINES {
        let mut lines = Vec::new();
        for (name, length) in [("few", FEW), ("crowd", CROWD)] {
            lines.push(Line::new(&w.scripts, name, &n.id, discipline, length).await);
        }
        let mut taken = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
        for _ in 0..TURNS {
            for (line, taken) in lines.iter_mut().zip(&mut taken) {
                let turn = line.turn(&mut n, async || evalsha_time(&redis).await).await;
                for ((before, after), taken) in turn.into_iter().zip(taken) {
                    taken.push((after - before) as f64 / BATCH as f64);
                }
            }
        }
        for (what, at) in [("enter", 0), ("granted", 1)] {
            let [few, crowd] = [0, 1].map(|line: usize| lower_quartile(&mut taken[line][at]));
            let ratio = crowd / few;
            println!(
                "{discipline:?} {what}: {few:.1} µs at {FEW}, {crowd:.1} µs at {CROWD}: {ratio:.2}"
            );
            assert!(ratio <= 1.3, "{discipline:?} {what}: {ratio:.2}");
        }
        let (version, none) = (1, Metadata::new());
        let other =
            if discipline == Discipline::Fifo { Discipline::Weighted } else { Discipline::Fifo };
        let rules = SemaphoreRules { discipline: other, ..1.into() };
        let before = evalsha_time(&redis).await;
        w.scripts.update_semaphore("turn", NS, "crowd", version, rules, "", &none).await.unwrap();
        let took = (evalsha_time(&redis).await - before) as f64 / 1e3;
        println!("from {discipline:?} to {other:?}: {took:.0} ms to re-order {CROWD}");
        w.scripts.delete_namespace(NS).await.unwrap();
        w.scripts.create_namespace("made", NS, "", &Metadata::new()).await.unwrap();
        n.received().await;
    }
}

/// µs that Redis has spent in scripts.
async fn evalsha_time(redis: &OwnRedis) -> u64 {
    let info: String = redis.run(&["INFO", "commandstats"]).await;
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:")).unwrap();
    line.split(',').find_map(|part| part.strip_prefix("usec=")).unwrap().parse().unwrap()
}

/// Of a clock that runs on while others have the processor, what most turns take is in its lower part.
fn lower_quartile(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 4]
}
