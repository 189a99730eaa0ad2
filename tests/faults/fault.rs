//! The faults, and what each does to a fleet.

use std::time::Duration;

use fastrand::Rng;
use tokio::time::sleep;

use crate::caller::Habits;
use crate::fleet::Fleet;
use grackle_test_support::Link;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Nothing,
    KillRedis,
    FreezeRedis,
    SlowRedis,
    FlushScripts,
    KillCommands,
    KillSubscriptions,
    FullMemory,
    RedisClock,
    ClientClocks,
    Cut,
    HalfOpen,
    Delay,
    LoseReplies,
    KillServers,
    FreezeServers,
    RollServers,
    HangUps,
    Drops,
    Everything,
}

/// The nodes that may not be received of for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreachable {
    Nobody,
    Node(usize),
    All,
}

/// What may strike where everything does. Not the clock: it takes from the checks what the others
/// are checked by.
const MIXED: [Fault; 14] = [
    Fault::KillRedis,
    Fault::FreezeRedis,
    Fault::SlowRedis,
    Fault::FlushScripts,
    Fault::KillCommands,
    Fault::KillSubscriptions,
    Fault::FullMemory,
    Fault::Cut,
    Fault::HalfOpen,
    Fault::Delay,
    Fault::LoseReplies,
    Fault::KillServers,
    Fault::FreezeServers,
    Fault::RollServers,
];

impl Fault {
    /// What the table calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::KillRedis => "kill -9 and restart of Redis, appendfsync always",
            Self::FreezeRedis => "SIGSTOP/SIGCONT of Redis, up to 4 s",
            Self::SlowRedis => "slow Redis: DEBUG SLEEP, up to 0.8 s",
            Self::FlushScripts => "SCRIPT FLUSH",
            Self::KillCommands => "CLIENT KILL of normal connections",
            Self::KillSubscriptions => "CLIENT KILL of pub/sub connections",
            Self::FullMemory => "memory limit reached",
            Self::RedisClock => "Redis' clock steps by up to 40 s",
            Self::ClientClocks => "servers' clocks step by up to 40 s",
            Self::Cut => "TCP cut",
            Self::HalfOpen => "TCP half-open, either way or both, up to 4 s",
            Self::Delay => "TCP delayed both ways, up to 40 ms",
            Self::LoseReplies => "reply lost after the script ran",
            Self::KillServers => "kill -9 of servers",
            Self::FreezeServers => "SIGSTOP/SIGCONT of servers, up to 18 s",
            Self::RollServers => "rolling restart of servers",
            Self::HangUps => "callers hang up",
            Self::Drops => "futures dropped at any await point",
            Self::Everything => "all of these but the clocks, mixed",
        }
    }

    pub(crate) fn kills_redis(self) -> bool {
        matches!(self, Self::KillRedis | Self::Everything)
    }

    pub(crate) fn steps_redis_clock(self) -> bool {
        self == Self::RedisClock
    }

    pub(crate) fn steps_client_clocks(self) -> bool {
        self == Self::ClientClocks
    }

    pub(crate) fn habits(self) -> Habits {
        let drops = match self {
            Self::HangUps | Self::Drops => 40,
            Self::Everything => 10,
            _ => 0,
        };
        Habits { drops, steady_clock: !self.steps_redis_clock() }
    }

    /// The nodes whose callers are all there are, where others can't show the fault.
    pub(crate) fn nodes(self, all: usize) -> std::ops::Range<usize> {
        match self {
            Self::HangUps => Fleet::node_of(0)..all,
            Self::Drops => 0..Fleet::node_of(0),
            _ => 0..all,
        }
    }

    /// Strikes once; returns when it is over, with those that may not have been received meanwhile and
    /// for some seconds more. (Whatever takes that from nobody delays them by less than a second.)
    pub(crate) async fn strike(self, fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
        match self {
            Self::Nothing | Self::HangUps | Self::Drops => calm(rng).await,
            Self::KillRedis => kill_redis(fleet, rng).await,
            Self::FreezeRedis => freeze_redis(fleet, rng).await,
            Self::SlowRedis => slow_redis(fleet, rng).await,
            Self::FlushScripts => flush_scripts(fleet).await,
            Self::KillCommands => kill_commands(fleet).await,
            Self::KillSubscriptions => kill_subscriptions(fleet).await,
            Self::FullMemory => full_memory(fleet, rng).await,
            Self::RedisClock => redis_clock(fleet, rng).await,
            Self::ClientClocks => client_clocks(fleet, rng).await,
            Self::Cut => cut(fleet, rng),
            Self::HalfOpen => half_open(fleet, rng).await,
            Self::Delay => delay(fleet, rng).await,
            Self::LoseReplies => lose_replies(fleet, rng).await,
            Self::KillServers => kill_server(fleet, rng).await,
            Self::FreezeServers => freeze_server(fleet, rng).await,
            Self::RollServers => roll_server(fleet, rng).await,
            Self::Everything => Box::pin(MIXED[rng.usize(..MIXED.len())].strike(fleet, rng)).await,
        }
    }
}

async fn calm(rng: &mut Rng) -> Unreachable {
    millis(rng, 10..50).await;
    Unreachable::Nobody
}

async fn kill_redis(fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
    fleet.redis.kill();
    millis(rng, 0..300).await;
    fleet.redis.start_again().await;
    Unreachable::All
}

async fn freeze_redis(fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
    let long = rng.u8(..8) == 0;
    fleet.redis.stop();
    millis(rng, if long { 3_500..4_000 } else { 100..1_000 }).await;
    fleet.redis.cont();
    // Longer than a command may take: connections are given up.
    if long { Unreachable::All } else { Unreachable::Nobody }
}

async fn slow_redis(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let seconds = format!("0.{}", rng.u32(1..=8));
    let _: String = fleet.redis.run(&["DEBUG", "SLEEP", &seconds]).await;
    Unreachable::Nobody
}

async fn flush_scripts(fleet: &Fleet) -> Unreachable {
    let _: String = fleet.redis.run(&["SCRIPT", "FLUSH"]).await;
    Unreachable::Nobody
}

async fn kill_commands(fleet: &Fleet) -> Unreachable {
    let _: i64 = fleet.redis.run(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await;
    Unreachable::Nobody
}

async fn kill_subscriptions(fleet: &Fleet) -> Unreachable {
    let _: i64 = fleet.redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    Unreachable::All
}

async fn full_memory(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let _: () = fleet.redis.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
    millis(rng, 50..500).await;
    let _: () = fleet.redis.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
    Unreachable::Nobody
}

async fn redis_clock(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let clock = fleet.redis_clock.as_ref().expect("a fleet of this fault has one");
    let seconds = [-20, 0, 20][rng.usize(..3)];
    clock.step_to(seconds);
    fleet.redis_clock_shows(seconds.into()).await;
    Unreachable::All
}

async fn client_clocks(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let server = any_server(fleet, rng);
    let clock = fleet.servers[server].clock.as_ref().expect("a fleet of this fault has one");
    clock.step_to([-20, 0, 20][rng.usize(..3)]);
    millis(rng, 1_100..2_000).await;
    Unreachable::Nobody
}

fn cut(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let node = any_node(fleet, rng);
    fleet.links[node].cut();
    Unreachable::Node(node)
}

async fn half_open(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let node = any_node(fleet, rng);
    let link = &fleet.links[node];
    [Link::go_silent, Link::hold_replies, Link::hold_requests][rng.usize(..3)](link);
    let long = rng.u8(..4) == 0;
    millis(rng, if long { 3_500..4_000 } else { 50..500 }).await;
    if rng.bool() {
        link.cut();
    }
    link.recover();
    Unreachable::Node(node)
}

async fn delay(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let link = &fleet.links[any_node(fleet, rng)];
    link.delay(Duration::from_millis(rng.u64(1..=40)));
    millis(rng, 200..1_000).await;
    link.recover();
    Unreachable::Nobody
}

async fn lose_replies(fleet: &Fleet, rng: &mut Rng) -> Unreachable {
    let node = any_node(fleet, rng);
    let link = &fleet.links[node];
    link.hold_replies();
    millis(rng, 1..30).await;
    link.cut();
    link.recover();
    Unreachable::Node(node)
}

async fn kill_server(fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
    let server = any_server(fleet, rng);
    fleet.servers[server].process.process().kill();
    millis(rng, 0..200).await;
    fleet.replace(server).await;
    Unreachable::Node(Fleet::node_of(server))
}

async fn freeze_server(fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
    let server = any_server(fleet, rng);
    // Sometimes until its alive mark has ended.
    let long = rng.u8(..8) == 0;
    fleet.servers[server].process.process().stop();
    millis(rng, if long { 16_500..18_000 } else { 100..2_000 }).await;
    fleet.servers[server].process.process().cont();
    Unreachable::Node(Fleet::node_of(server))
}

async fn roll_server(fleet: &mut Fleet, rng: &mut Rng) -> Unreachable {
    let server = any_server(fleet, rng);
    let mut old = fleet.replace(server).await;
    assert!(old.terminate().await.success(), "{}", old.log());
    Unreachable::Node(Fleet::node_of(server))
}

fn any_node(fleet: &Fleet, rng: &mut Rng) -> usize {
    rng.usize(..fleet.links.len())
}

fn any_server(fleet: &Fleet, rng: &mut Rng) -> usize {
    rng.usize(..fleet.servers.len())
}

async fn millis(rng: &mut Rng, range: std::ops::Range<u64>) {
    sleep(Duration::from_millis(rng.u64(range))).await;
}
