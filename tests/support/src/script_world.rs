//! One namespace driven script by script, on a clock that stands still unless it is moved.
//!
//! Every step here ends with a look at all keys of the namespace: see `invariants` for the rules.
//! Leases are known by short names, and what is held and waited for is shown in one line.

mod invariants;
mod node;
mod state;

use std::time::Duration;

use grackle_client::scripts::{
    AcquireArguments, AcquireReply, Call, CallState, Outcome, Scripts, SweepReply,
};
use grackle_client::wire::{Lease, Metadata, Semaphore};
use grackle_client::{Config, Error, Limits};

use super::monitor::Monitor;
use super::namespace_clock::Clock;
use super::own_redis::OwnRedis;
use super::test_redis::TestRedis;

pub use node::{Node, Subscription, granted, told};
pub use state::{Hold, OWNERLESS, State, Wait};

/// The namespace that a world is.
pub const NS: &str = "ns";
/// The semaphore that most tests have.
pub const SEM: &str = "s";
/// When it begins, in µs. Redis and Lua like to write such a number as 1.8e+15.
pub const START: i64 = 1_800_000_000_000_000;

pub const MINUTE: Duration = Duration::from_secs(60);
pub const DAY: Duration = Duration::from_secs(86_400);
/// Units of work that one script does.
pub const BUDGET: usize = 500;

pub struct World {
    pub redis: TestRedis,
    pub scripts: Scripts,
    pub clock: Clock,
}

impl World {
    /// With the namespace, and nothing in it.
    pub async fn new() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub async fn with_limits(limits: Limits) -> Self {
        let world = Self::without_namespace(limits).await;
        let made = world.scripts.create_namespace("made", NS, "", &Metadata::new()).await;
        made.expect("a namespace");
        world
    }

    pub async fn without_namespace(limits: Limits) -> Self {
        Self::at(TestRedis::shared().await, limits).await
    }

    /// Without a namespace, on a server that is known.
    pub async fn on(redis: TestRedis) -> Self {
        Self::at(redis, Limits::default()).await
    }

    /// On that server, with a semaphore of that many permits and these leases.
    pub async fn with_on(redis: &OwnRedis, permits: i64, leases: &str) -> Self {
        let world = Self::on(TestRedis::at(redis.url().to_owned()).await).await;
        let made = world.scripts.create_namespace("made", NS, "", &Metadata::new()).await;
        made.expect("a namespace");
        world.semaphore(SEM, permits).await;
        world.leases(leases).await;
        world
    }

    async fn at(redis: TestRedis, limits: Limits) -> Self {
        let mut config = redis.config();
        config.test_clock = true;
        config.limits = limits;
        let clock = redis.clock(NS);
        clock.set(START).await;
        Self { scripts: scripts(&config), redis, clock }
    }

    /// With a semaphore of that many permits.
    pub async fn of(permits: i64) -> Self {
        let world = Self::new().await;
        world.semaphore(SEM, permits).await;
        world
    }

    /// As [`World::of`], with leases of a day by these names.
    pub async fn with(permits: i64, leases: &str) -> Self {
        let world = Self::of(permits).await;
        world.leases(leases).await;
        world
    }

    /// Ends it: with the last lease every hold and wait is gone, with the namespace every key.
    pub async fn end(&self) {
        self.check().await;
        let mut config = self.redis.config();
        config.test_clock = true;
        let client = grackle_client::Client::connect_with(config).await.expect("Redis is there");
        self.redis.assert_nothing_left(&client).await;
    }

    /// The name of the namespace's record, with which all its keys begin.
    pub fn namespace(&self) -> String {
        format!("{}:{{{NS}}}", self.redis.prefix())
    }

    pub async fn state(&self) -> State {
        State::read(&self.redis, NS).await
    }

    /// Fails where the keys break a rule.
    pub async fn check(&self) {
        self.checked().await;
    }

    /// The state, once it is found to break no rule.
    pub async fn checked(&self) -> State {
        let (state, now) = (self.state().await, self.clock.now().await);
        let faults = invariants::faults(&state, now);
        assert!(faults.is_empty(), "{}\nat {now}, in {state:#?}", faults.join("\n"));
        state
    }

    pub async fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds)).await;
        self.check().await;
    }

    /// A node that listens.
    pub async fn node(&self, id: &str) -> Node {
        Node::new(self.redis.raw(), &self.namespace(), id).await
    }

    /// What those who watch a semaphore are told.
    pub async fn watch(&self, name: &str) -> Subscription {
        let subscription =
            Subscription::on(self.redis.raw(), format!("{}:watch:{name}", self.namespace())).await;
        self.scripts.watch(NS, name).await.expect("the semaphore");
        subscription
    }

    /// What is said to all nodes.
    pub async fn announcements(&self) -> Subscription {
        Subscription::on(self.redis.raw(), format!("{}:nodes", self.namespace())).await
    }

    /// How many scripts the work on this namespace took, from [`Monitor::start`] to now.
    pub async fn scripts_run(&self, monitor: Monitor) -> usize {
        let (script, key) = ("\"EVALSHA\"", format!("\"{}\"", self.namespace()));
        let lines = monitor.finish().await;
        lines.iter().filter(|line| line.starts_with(script) && line.contains(&key)).count()
    }

    pub async fn monitor(&self) -> Monitor {
        Monitor::start(self.redis.raw().clone()).await
    }

    // What there is.

    pub async fn semaphore(&self, name: &str, permits: i64) {
        let request = format!("made-{name}");
        let none = Metadata::new();
        let made = self.scripts.create_semaphore(&request, NS, name, permits, "", &none).await;
        self.check().await;
        made.expect("a semaphore");
    }

    /// Leases of a day by these names, a space between them.
    pub async fn leases(&self, names: &str) {
        for name in names.split_whitespace() {
            self.lease(name, DAY).await;
        }
    }

    pub async fn lease(&self, name: &str, ttl: Duration) -> Lease {
        let none = Metadata::new();
        let made = self.scripts.create_lease(NS, &lease_id(name), "p", ttl, &none).await;
        self.check().await;
        made.expect("a lease")
    }

    pub async fn revoke(&self, name: &str) {
        let done = self.scripts.revoke_lease(NS, &lease_id(name)).await;
        self.check().await;
        done.expect("revoked");
    }

    /// Replaces the permits of the semaphore, whatever its version.
    pub async fn set_permits(&self, permits: i64) -> Result<Semaphore, Error> {
        let version = self.get().await.version;
        let (request, none) = (format!("update-{version}"), Metadata::new());
        let update = self.scripts.update_semaphore(&request, NS, SEM, version, permits, "", &none);
        let updated = update.await;
        self.check().await;
        updated
    }

    pub async fn get(&self) -> Semaphore {
        let semaphore = self.scripts.get_semaphore(NS, SEM).await;
        self.check().await;
        semaphore.expect("the semaphore")
    }

    // What calls do.

    pub async fn ask(
        &self,
        call: &Call,
        wanted: AcquireArguments<'_>,
    ) -> Result<AcquireReply, Error> {
        let reply = self.scripts.acquire(NS, call, wanted).await;
        self.check().await;
        reply
    }

    /// Acquires at once; the fencing token.
    pub async fn take(&self, call: &Call, weight: i64) -> i64 {
        let reply = self.ask(call, wanted(weight)).await.expect("an answer");
        assert_eq!(reply.outcome, Outcome::Acquired, "{call:?} for {weight}");
        reply.fencing_token
    }

    /// Asks for a minute, and has to wait; µs until something is due.
    pub async fn queue(&self, call: &Call, weight: i64) -> i64 {
        self.queue_with(call, wanted(weight)).await
    }

    pub async fn queue_with(&self, call: &Call, wanted: AcquireArguments<'_>) -> i64 {
        let reply = self.ask(call, wanted).await.expect("an answer");
        assert_eq!(reply.outcome, Outcome::Waiting, "{call:?} for {wanted:?}");
        reply.sweep_in.expect("when to sweep")
    }

    pub async fn release(&self, lease: &str) -> Semaphore {
        let released = self.scripts.release(NS, SEM, &lease_id(lease)).await;
        self.check().await;
        released.expect("released")
    }

    pub async fn time_out(&self, call: &Call) -> Result<AcquireReply, Error> {
        let reply = self.scripts.time_out(NS, call, None).await;
        self.check().await;
        reply
    }

    pub async fn cancel(&self, call: &Call) {
        let done = self.scripts.cancel(NS, call).await;
        self.check().await;
        done.expect("done");
    }

    /// parks one call.
    pub async fn park(&self, call: &Call, undo: bool, keep: Duration) -> CallState {
        let replies = self.scripts.park(NS, undo, &[(call.clone(), keep)]).await;
        self.check().await;
        replies.expect("a reply for each").remove(0)
    }

    /// Resumes one call.
    pub async fn resume(&self, call: &Call) -> CallState {
        let resumed = self.scripts.resume(NS, std::slice::from_ref(call)).await;
        self.check().await;
        resumed.expect("a reply for each").1.remove(0)
    }

    pub async fn sweep(&self, node: &str) -> SweepReply {
        let swept = self.scripts.sweep(NS, node).await;
        self.check().await;
        swept.expect("swept")
    }

    // What stands there.

    /// `holds a:3 b:1, queue c:5, parked d:2`: leases and weights, the first in line first.
    pub async fn picture(&self) -> String {
        self.picture_of(SEM).await
    }

    pub async fn picture_of(&self, name: &str) -> String {
        let state = self.state().await;
        let (holds, waits) = (state.holds(name), state.waits(name));
        let parts = [("holds", "holders"), ("queue", "queue"), ("parked", "parked")];
        let parts = parts.into_iter().filter_map(|(title, list)| {
            let entries = state.zset(&format!(":semaphore:{name}:{list}"));
            let entries = entries.iter().map(|(lease, _)| {
                let lease = lease.as_str();
                let waits = waits.get(lease).map(|wait| wait.weight);
                let weight = if list == "holders" { holds[lease].weight } else { waits.unwrap() };
                format!("{}:{weight}", short(lease))
            });
            let entries: Vec<_> = entries.collect();
            (!entries.is_empty()).then(|| format!("{title} {}", entries.join(" ")))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    pub async fn hold(&self, lease: &str) -> Hold {
        self.state().await.holds(SEM)[lease_id(lease).as_str()].clone()
    }

    pub async fn wait(&self, lease: &str) -> Wait {
        self.state().await.waits(SEM)[lease_id(lease).as_str()].clone()
    }
}

fn scripts(config: &Config) -> Scripts {
    Scripts::new(config).expect("scripts")
}

/// `ls_` and 28 characters that begin with the name.
pub fn lease_id(name: &str) -> String {
    format!("ls_{name:X<28}")
}

fn short(lease_id: &str) -> &str {
    lease_id.trim_start_matches("ls_").trim_end_matches('X')
}

static NO_METADATA: Metadata = Metadata::new();

/// That weight, for a minute, by a node that listens.
pub fn wanted(weight: i64) -> AcquireArguments<'static> {
    let (metadata, timeout) = (&NO_METADATA, MINUTE);
    AcquireArguments { weight, share: 1, metadata, timeout, listening: true, explain: false }
}

/// That weight at once or not at all.
pub fn now_or_never(weight: i64) -> AcquireArguments<'static> {
    AcquireArguments { timeout: Duration::ZERO, ..wanted(weight) }
}

pub fn metadata(entries: &[(&str, &str)]) -> Metadata {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
