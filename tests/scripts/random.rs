//! Whatever is done in whatever order, the keys keep the rules of `grackle_test_support::script_world::invariants`, no
//! waiter is overtaken, and holds are there as long as those who were granted them rely on them, and
//! no longer.
//!
//! The walks are the same in every run. `GRACKLE_RANDOM_WALKS=<first>-<last>` takes others.

use std::collections::BTreeSet;
use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, AcquireReply, Call, CallState, Outcome};
use grackle_client::wire::Metadata;
use grackle_test_support::script_world::{Hold, NS, Node, SEM, State, World, lease_id, wanted};

const STEPS: usize = 250;
const LEASES: [&str; 5] = ["a", "b", "c", "d", "e"];
const SEMAPHORES: [&str; 2] = [SEM, "t"];

/// Numbers that look random (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % bound
    }

    fn seconds(&mut self) -> Duration {
        Duration::from_secs([0, 1, 5, 16, 60][self.below(5)])
    }

    fn of<T: Clone>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())].clone()
    }
}

struct Walk {
    world: World,
    dice: Dice,
    nodes: Vec<Node>,
    calls: Vec<Call>,
    /// Those that know of their grant, and have neither ended nor taken it back.
    answered: Vec<Call>,
    /// Those that nobody waits for any more.
    cancelled: BTreeSet<String>,
    done: Vec<String>,
}

impl Walk {
    async fn begin(seed: u64) -> Self {
        let world = World::new().await;
        for name in SEMAPHORES {
            world.semaphore(name, 4).await;
        }
        world.leases(&LEASES.join(" ")).await;
        let mut nodes = Vec::new();
        for id in ["k", "m", "n"] {
            nodes.push(world.node(id).await);
        }
        let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let (calls, answered, cancelled) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { world, dice, nodes, calls, answered, cancelled, done: Vec::new() }
    }

    async fn step(&mut self) {
        let before = self.world.state().await;
        match self.dice.below(20) {
            0..=5 => self.ask_anew().await,
            6 => self.ask_again().await,
            7 => self.time_out().await,
            8 | 9 => self.cancel().await,
            10 => self.park().await,
            11 => self.resume().await,
            12 | 13 => self.release().await,
            14 => self.sweep().await,
            15 => self.set_permits().await,
            16 => self.live_or_die().await,
            17 => self.renew_lease().await,
            18 => self.delete_and_create().await,
            _ => self.wait().await,
        }
        let after = self.world.checked().await;
        self.hear().await;
        for name in SEMAPHORES {
            overtakes_nobody(name, &before, &after);
        }
        self.rely(&after);
    }

    async fn hear(&mut self) {
        for node in &mut self.nodes {
            for message in node.received().await {
                let Some(tickets) = message.strip_prefix("Acquired ") else { continue };
                for ticket in tickets.split(' ') {
                    let call = self.calls.iter().find(|call| call.ticket == ticket).unwrap();
                    self.answered.push(call.clone());
                }
            }
        }
    }

    /// Whoever was answered holds; whoever has left is not there any more.
    fn rely(&mut self, state: &State) {
        let leases: BTreeSet<_> = state.leases().map(|(lease, _)| lease).collect();
        self.answered.retain(|call| {
            leases.contains(call.lease_id.as_str()) && !self.cancelled.contains(&call.ticket)
        });
        for call in &self.answered {
            let holds = state.holds(&call.semaphore).contains_key(call.lease_id.as_str());
            assert!(holds, "{call:?} was granted and holds nothing");
        }
        for (lease, fields) in state.leases() {
            for text in fields.values() {
                let known = |ticket: &&String| text.contains(&format!("\"{ticket}\""));
                let left = self.cancelled.iter().find(known);
                assert!(left.is_none(), "{lease} knows {left:?}: {text}");
            }
        }
    }

    fn answer(&mut self, call: Call, reply: Option<AcquireReply>) {
        if reply.is_some_and(|reply| reply.outcome == Outcome::Acquired) {
            self.answered.push(call);
        }
    }

    /// What was answered of this semaphore, to that lease or to any, is over.
    fn forget(&mut self, semaphore: &str, lease: Option<&str>) {
        self.answered.retain(|call| {
            call.semaphore != semaphore || lease.is_some_and(|lease| call.lease_id != lease)
        });
    }

    fn note(&mut self, what: String) {
        self.done.push(what);
    }

    fn any_call(&mut self) -> Option<Call> {
        // Mostly one of the latest.
        let latest = &self.calls[self.calls.len().saturating_sub(8)..];
        (!latest.is_empty()).then(|| self.dice.of(latest))
    }

    async fn ask_anew(&mut self) {
        let (node, semaphore) = (self.dice.below(3), self.dice.of(&SEMAPHORES));
        let call = self.nodes[node].call_on(semaphore, self.dice.of(&LEASES));
        self.calls.push(call.clone());
        self.ask(call).await;
    }

    async fn ask_again(&mut self) {
        if let Some(call) = self.any_call() {
            self.ask(call).await;
        }
    }

    async fn ask(&mut self, call: Call) {
        let weight = 1 + self.dice.below(5) as i64;
        let (timeout, listening) = (self.dice.seconds(), self.dice.below(5) > 0);
        self.note(format!("acquire {call:?} {weight} {timeout:?} {listening}"));
        let wanted = AcquireArguments { timeout, listening, ..wanted(weight) };
        self.cancelled.remove(&call.ticket);
        let reply = known(self.world.scripts.acquire(NS, &call, wanted).await);
        self.answer(call, reply);
    }

    async fn time_out(&mut self) {
        let Some(call) = self.any_call() else { return };
        self.note(format!("time_out {call:?}"));
        let reply = known(self.world.scripts.time_out(NS, &call, None).await);
        self.answer(call, reply);
    }

    async fn cancel(&mut self) {
        let Some(call) = self.any_call() else { return };
        self.note(format!("cancel {call:?}"));
        self.world.scripts.cancel(NS, &call).await.unwrap();
        self.cancelled.insert(call.ticket);
    }

    async fn park(&mut self) {
        let (Some(one), Some(other)) = (self.any_call(), self.any_call()) else { return };
        let (keep, undo) = (self.dice.seconds(), self.dice.below(2) == 0);
        self.note(format!("set_aside {undo} {keep:?} {one:?} {other:?}"));
        let calls = [(one, keep), (other, keep)];
        let replies = self.world.scripts.park(NS, undo, &calls).await.unwrap();
        for ((call, _), reply) in calls.into_iter().zip(replies) {
            match reply {
                CallState::Answered(reply) => self.answer(call, Some(reply)),
                _ => self.answered.retain(|answered| *answered != call),
            }
        }
    }

    async fn resume(&mut self) {
        let (Some(one), Some(other)) = (self.any_call(), self.any_call()) else { return };
        self.note(format!("resume {one:?} {other:?}"));
        let calls = [one, other];
        let (_, replies) = self.world.scripts.resume(NS, &calls).await.unwrap();
        for (call, reply) in calls.into_iter().zip(replies) {
            if let CallState::Answered(reply) = reply {
                self.answer(call, Some(reply));
            }
        }
    }

    async fn release(&mut self) {
        let (name, lease) = (self.dice.of(&SEMAPHORES), lease_id(self.dice.of(&LEASES)));
        self.note(format!("release {name} {lease}"));
        self.forget(name, Some(&lease));
        known(self.world.scripts.release(NS, name, &lease).await);
        // What it swept first may have granted what it released then.
        self.hear().await;
        if !self.world.state().await.holds(name).contains_key(lease.as_str()) {
            self.forget(name, Some(&lease));
        }
    }

    async fn sweep(&mut self) {
        let node = self.dice.below(3);
        self.note(format!("sweep {}", self.nodes[node].id));
        self.world.scripts.sweep(NS, &self.nodes[node].id).await.unwrap();
    }

    async fn set_permits(&mut self) {
        let (permits, none) = (1 + self.dice.below(6) as i64, Metadata::new());
        let name = self.dice.of(&SEMAPHORES);
        let version = self.world.scripts.get_semaphore(NS, name).await.unwrap().version;
        self.note(format!("update {name} to {permits}"));
        let request = format!("update {version}");
        let scripts = &self.world.scripts;
        known(scripts.update_semaphore(&request, NS, name, version, permits, "", &none).await);
    }

    async fn live_or_die(&mut self) {
        let (node, dies) = (self.dice.below(3), self.dice.below(2) == 0);
        self.note(format!("{} dies: {dies}", self.nodes[node].id));
        if dies {
            self.nodes[node].dies().await;
        } else {
            self.nodes[node].returns().await;
        }
    }

    async fn renew_lease(&mut self) {
        let (lease, none) = (lease_id(self.dice.of(&LEASES)), Metadata::new());
        let (ttl, revoke) = (self.dice.seconds() + Duration::from_secs(1), self.dice.below(3) == 0);
        self.note(format!("lease {lease} for {ttl:?} {revoke}"));
        let scripts = &self.world.scripts;
        if revoke {
            known(scripts.revoke_lease(NS, &lease).await);
            self.answered.retain(|call| call.lease_id != lease);
        }
        // What has expired ends here before it is made anew.
        let (state, now) = (self.world.state().await, self.world.clock.now().await);
        if state.zset(":leases").iter().any(|(id, at)| *id == lease && *at <= now) {
            self.answered.retain(|call| call.lease_id != lease);
        }
        scripts.create_lease(NS, &lease, "p", ttl, &none).await.unwrap();
        self.world.check().await;
        self.world.scripts.refresh_lease(NS, &lease, ttl * 2).await.unwrap();
    }

    async fn delete_and_create(&mut self) {
        if self.dice.below(3) > 0 {
            return;
        }
        let (name, none) = (self.dice.of(&SEMAPHORES), Metadata::new());
        self.note(format!("delete and create {name}"));
        self.world.scripts.delete_semaphore(NS, name).await.unwrap();
        self.forget(name, None);
        self.world.check().await;
        let request = format!("made {}", self.done.len());
        let made = self.world.scripts.create_semaphore(&request, NS, name, 4, "", &none).await;
        made.unwrap();
    }

    async fn wait(&mut self) {
        if self.dice.below(12) == 0 {
            self.note("20 s back".to_owned());
            self.world.clock.set(self.world.clock.now().await - 20_000_000).await;
            return;
        }
        let by = self.dice.seconds();
        self.note(format!("{by:?} later"));
        self.world.clock.advance(by).await;
    }
}

/// Whoever was admitted from the queue stood before all who still stand in it; to hold less than
/// before, nobody has to queue.
fn overtakes_nobody(name: &str, before: &State, after: &State) {
    let list = |state: &State| state.zset(&format!(":semaphore:{name}:queue")).to_vec();
    let (held, holds, queue, still) =
        (before.holds(name), after.holds(name), list(before), list(after));
    let admitted = queue.iter().rposition(|waiter| {
        let (lease, place) = (waiter.0.as_str(), Some(waiter.1));
        let old = held.get(lease).map_or(0, |hold| hold.weight);
        let granted = |hold: &Hold| hold.score.map(|at| at as i64) == place && hold.weight > old;
        holds.get(lease).is_some_and(granted) && !still.contains(waiter)
    });
    for passed in &queue[..admitted.unwrap_or(0)] {
        assert!(
            !still.contains(passed),
            "{name}: {passed:?} was passed by {:?}",
            queue[admitted.unwrap()]
        );
    }
}

/// Some errors are what is to come of it.
fn known<T>(reply: Result<T, Error>) -> Option<T> {
    match reply {
        Ok(reply) => Some(reply),
        Err(
            Error::LeaseNotFound | Error::WeightExceedsPermits | Error::PermitsBelowActiveHolds,
        ) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Prints what was done if it ends with a panic.
impl Drop for Walk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.done.len().saturating_sub(60);
            eprintln!("…\n{}", self.done[from..].join("\n"));
        }
    }
}

fn seeds() -> std::ops::RangeInclusive<u64> {
    let given = std::env::var("GRACKLE_RANDOM_WALKS").unwrap_or_else(|_| "1-12".to_owned());
    let (first, last) = given.split_once('-').unwrap();
    first.parse().unwrap()..=last.parse().unwrap()
}

#[tokio::test]
async fn the_keys_agree_after_every_step_of_a_random_walk() {
    for seed in seeds() {
        eprintln!("walk {seed}");
        let mut walk = Walk::begin(seed).await;
        for _ in 0..STEPS {
            walk.step().await;
        }
        for call in walk.calls.clone() {
            walk.world.cancel(&call).await;
        }
        let state = walk.world.state().await;
        assert!(state.waits(SEM).is_empty(), "{state:?}");
        walk.world.end().await;
    }
}
