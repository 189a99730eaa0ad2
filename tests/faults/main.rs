//! Many callers on several nodes and one Redis, under a seeded schedule of faults; the whole history
//! is recorded, and checked when all is over: a test a fault.
//!
//! [`fleet`] is Redis, two SDK clients and two server processes, each behind a link of its own;
//! [`node`] is a way to Grackle through one of them. [`caller`] plays a caller and writes a
//! [`history`]; [`observer`] notes who stands in the queues; [`fault`] is what is done meanwhile.
//! [`round`] puts them together, and [`check`] has the last word.
//!
//! `GRACKLE_FAULTS_OPERATIONS` is how many operations a round has at least, `GRACKLE_FAULTS_SEED`
//! plays those of that seed (each round prints its own; what the machine does in between differs).
//! `GRACKLE_FAULTS_TABLE` names a file that each round adds its row to; `make faults` prints it.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod caller;
mod check;
mod fault;
mod fleet;
mod history;
mod node;
mod observer;
mod round;

use crate::fault::Fault;

macro_rules! rounds {
    ($($name:ident: $fault:ident;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            round::play(Fault::$fault).await;
        }
    )*};
}

rounds! {
    nothing_at_all: Nothing;
    redis_is_killed_and_restarted: KillRedis;
    redis_is_frozen: FreezeRedis;
    redis_is_slow: SlowRedis;
    redis_forgets_its_scripts: FlushScripts;
    redis_drops_command_connections: KillCommands;
    redis_drops_subscriptions: KillSubscriptions;
    redis_has_no_memory_left: FullMemory;
    redis_clock_jumps: RedisClock;
    client_clocks_jump: ClientClocks;
    connections_are_cut: Cut;
    connections_are_half_open: HalfOpen;
    connections_are_slow: Delay;
    replies_are_lost_after_the_script_ran: LoseReplies;
    servers_are_killed: KillServers;
    servers_are_frozen: FreezeServers;
    servers_are_replaced_one_by_one: RollServers;
    callers_hang_up: HangUps;
    futures_are_dropped: Drops;
    everything_at_once: Everything;
}
