//! Random schedules, played by the scripts and by the [`naive`](crate::naive) queues: whoever comes,
//! leaves or lets go, both admit the same calls in the same order.
//!
//! `GRACKLE_SCHEDULES` is how many, `GRACKLE_SCHEDULES_SEED` plays those of that seed.

use std::collections::HashMap;

use futures_util::future::join_all;
use grackle_client::scripts::{AcquireArguments, Call, Outcome, SemaphoreRules};
use grackle_client::wire::{Metadata, QueueDiscipline as Discipline};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::naive::{Admitted, FLOWS, Lease, Naive, flow_of};
use grackle_test_support::script_world::{DAY, NS, Node, World, lease_id, wanted};

/// Named so that their ids sort as their numbers.
const LEASES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
/// So many are played at once, on a semaphore each.
const AT_ONCE: usize = 250;

/// What is to happen to a lease, whatever it has: one that waits or holds leaves or lets go, or
/// perhaps grows; one that has nothing comes.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Of { lease: Lease, weight: i64, grows: bool },
    To(Discipline),
}

#[derive(Debug, Clone)]
struct Schedule {
    permits: i64,
    discipline: Discipline,
    shares: [i64; FLOWS],
    turns: Vec<Turn>,
}

/// A turn as the scripts are asked for it.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Acquire {
        lease: Lease,
        weight: i64,
        share: i64,
        at_once: bool,
    },
    Release(Lease),
    /// This call.
    Cancel(usize),
    TimeOut(usize),
    To(Discipline),
}

fn discipline() -> impl Strategy<Value = Discipline> {
    select(
        [Discipline::Fifo, Discipline::Lifo, Discipline::Weighted, Discipline::Weighted].as_slice(),
    )
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let turn = prop_oneof![
        40 => (0..LEASES.len(), 1..=4_i64, 0..4)
            .prop_map(|(lease, weight, grows)| Turn::Of { lease, weight, grows: grows == 0 }),
        1 => discipline().prop_map(Turn::To),
    ];
    let shares = prop_oneof![1 => Just(1), 2 => 1..=5_i64];
    (
        1..=5_i64,
        discipline(),
        [shares.clone(), shares.clone(), shares],
        prop::collection::vec(turn, 1..32),
    )
        .prop_map(|(permits, discipline, shares, turns)| Schedule {
            permits,
            discipline,
            shares,
            turns,
        })
}

impl Schedule {
    /// What is asked, and whom the naive queue admits by it.
    fn play(&self) -> (Vec<Asked>, Naive) {
        let mut naive = Naive::new(self.discipline, self.permits);
        let (mut asked, mut calls, mut fair) = (Vec::new(), 0, Fair::default());
        for turn in &self.turns {
            match *turn {
                Turn::To(discipline) => {
                    naive.turn_to(discipline);
                    asked.push(Asked::To(discipline));
                    fair = Fair::default();
                }
                Turn::Of { lease, weight, grows } => {
                    let (held, weight) = (naive.held_by(lease), weight.min(self.permits));
                    if let Some(waiter) = naive.waits(lease) {
                        let call = waiter.call;
                        naive.leave(lease);
                        asked.push(if grows { Asked::TimeOut(call) } else { Asked::Cancel(call) });
                    } else if held > 0 && !(grows && weight > held) {
                        naive.release(lease);
                        asked.push(Asked::Release(lease));
                    } else {
                        let share = self.shares[flow_of(lease)];
                        let at_once = naive.acquire(lease, calls, weight, share);
                        asked.push(Asked::Acquire { lease, weight, share, at_once });
                        calls += 1;
                    }
                }
            }
            fair.look(&naive);
        }
        (asked, naive)
    }
}

/// The bounds of the weighted discipline, looked at after each step: of two flows that both wait all
/// the time, neither gets more than its part and the heaviest of each; from rest, than the heavier of
/// both.
#[derive(Default)]
struct Fair {
    /// How many were admitted before.
    seen: usize,
    since: HashMap<(usize, usize), Both>,
    heaviest: [f64; FLOWS],
}

/// Two flows that both wait, and what each has got since.
#[derive(Default)]
struct Both {
    got: f64,
    gets: f64,
    /// Was nobody granted before, since somebody waits?
    from_rest: bool,
}

impl Fair {
    fn look(&mut self, naive: &Naive) {
        let new: Vec<Admitted> = naive.admitted[self.seen..].to_vec();
        self.seen = naive.admitted.len();
        if naive.waiters.is_empty() {
            self.heaviest = [0.0; FLOWS];
        }
        for waiter in &naive.waiters {
            let heaviest = &mut self.heaviest[flow_of(waiter.lease)];
            *heaviest = heaviest.max(waiter.weight as f64 / waiter.share as f64);
        }
        if naive.discipline != Discipline::Weighted {
            return;
        }
        for one in 0..FLOWS {
            for other in 0..one {
                if !naive.is_backlogged(one) || !naive.is_backlogged(other) {
                    self.since.remove(&(one, other));
                    continue;
                }
                let Some(both) = self.since.get_mut(&(one, other)) else {
                    let from_rest = naive.most == 0.0;
                    self.since.insert((one, other), Both { from_rest, ..Both::default() });
                    continue;
                };
                for admitted in new.iter().filter(|admitted| !admitted.grows) {
                    both.got += if admitted.flow == one { admitted.cost } else { 0.0 };
                    both.gets += if admitted.flow == other { admitted.cost } else { 0.0 };
                }
                let (heavy, heavier) = (self.heaviest[one], self.heaviest[other]);
                let bound = if both.from_rest { heavy.max(heavier) } else { heavy + heavier };
                let (got, gets) = (both.got, both.gets);
                assert!((got - gets).abs() <= bound + 1e-9, "{got} and {gets}, beyond {bound}");
            }
        }
    }
}

/// The semaphore of one schedule, and the calls there were on it.
struct Scene<'a> {
    world: &'a World,
    node: &'a Node,
    name: String,
    permits: i64,
    version: i64,
    calls: Vec<Call>,
}

impl Scene<'_> {
    async fn begin(&mut self, discipline: Discipline) {
        let (rules, none) = (SemaphoreRules { discipline, ..self.permits.into() }, Metadata::new());
        let made =
            self.world.scripts.create_semaphore(&self.name, NS, &self.name, rules, "", &none);
        made.await.unwrap();
    }

    async fn ask(&mut self, asked: Asked) {
        let scripts = &self.world.scripts;
        match asked {
            Asked::Acquire { lease, weight, share, at_once } => {
                let call = self.node.call_on(&self.name, LEASES[lease]);
                let reply =
                    scripts.acquire(NS, &call, AcquireArguments { share, ..wanted(weight) }).await;
                let right = if at_once { Outcome::Acquired } else { Outcome::Waiting };
                assert_eq!(reply.unwrap().outcome, right, "{}: {call:?} for {weight}", self.name);
                self.calls.push(call);
            }
            Asked::Release(lease) => {
                drop(scripts.release(NS, &self.name, &lease_id(LEASES[lease])).await.unwrap());
            }
            Asked::Cancel(call) => scripts.cancel(NS, &self.calls[call]).await.unwrap(),
            Asked::TimeOut(call) => {
                let reply = scripts.time_out(NS, &self.calls[call], None).await.unwrap();
                assert_eq!(reply.outcome, Outcome::TimedOut, "{}", self.name);
            }
            Asked::To(discipline) => {
                let (request, none) = (format!("{}.{}", self.name, self.version), Metadata::new());
                let rules = SemaphoreRules { discipline, ..self.permits.into() };
                let update = scripts.update_semaphore(
                    &request,
                    NS,
                    &self.name,
                    self.version,
                    rules,
                    "",
                    &none,
                );
                update.await.unwrap();
                self.version += 1;
            }
        }
    }
}

/// `case` is in the names: what a failed one left behind is none of the next, smaller one's.
async fn play(world: &World, node: &mut Node, case: usize, schedules: &[Schedule]) {
    let all = schedules.iter().enumerate().map(|(number, schedule)| {
        let (name, permits, node) = (format!("s{case}-{number}"), schedule.permits, &*node);
        let mut scene = Scene { world, node, name, permits, version: 1, calls: Vec::new() };
        async move {
            scene.begin(schedule.discipline).await;
            let (asked, naive) = schedule.play();
            for asked in asked {
                scene.ask(asked).await;
            }
            world.scripts.delete_semaphore(NS, &scene.name).await.unwrap();
            (scene.calls, naive)
        }
    });
    let ends = join_all(all).await;
    let mut order = HashMap::<String, Vec<String>>::new();
    for message in node.received().await {
        let (how, ticket) = message.rsplit_once(' ').unwrap();
        if how == "Acquired" {
            let call = ends.iter().flat_map(|end| &end.0).find(|call| call.ticket == ticket);
            order.entry(call.unwrap().semaphore.clone()).or_default().push(ticket.to_owned());
        }
    }
    for (number, (calls, naive)) in ends.iter().enumerate() {
        let waited = naive.admitted.iter().filter(|admitted| admitted.waited);
        let right: Vec<_> = waited.map(|admitted| calls[admitted.call].ticket.clone()).collect();
        let is = order.remove(&format!("s{case}-{number}")).unwrap_or_default();
        assert_eq!(is, right, "admitted by the scripts, and in order, of {:?}", schedules[number]);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_schedules_are_admitted_as_naive_queues_admit_them() {
    let count = number("GRACKLE_SCHEDULES").unwrap_or(10_000);
    let seed = number("GRACKLE_SCHEDULES_SEED").unwrap_or_else(rand_seed);
    eprintln!("{count} schedules; to play them again: GRACKLE_SCHEDULES_SEED={seed}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (world, node) = runtime.block_on(async {
        let world = World::new().await;
        for (number, lease) in LEASES.into_iter().enumerate() {
            let (process, none) = (format!("p{}", flow_of(number)), Metadata::new());
            world.scripts.create_lease(NS, &lease_id(lease), &process, DAY, &none).await.unwrap();
        }
        let node = world.node("n").await;
        (world, node)
    });
    let node = std::cell::RefCell::new(node);
    let config = Config {
        cases: u32::try_from(count).unwrap().div_ceil(AT_ONCE as u32),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    let schedules = prop::collection::vec(schedule(), AT_ONCE);
    let case = std::cell::Cell::new(0);
    let outcome = TestRunner::new(config).run(&schedules, |schedules| {
        case.set(case.get() + 1);
        runtime.block_on(play(&world, &mut node.borrow_mut(), case.get(), &schedules));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\nGRACKLE_SCHEDULES_SEED={seed}");
    }
    runtime.block_on(world.end());
}

fn rand_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("seed")
}
