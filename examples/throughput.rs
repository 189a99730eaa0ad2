//! How many times a second permits are acquired and released.
//!
//! ```text
//! cargo run --release --example throughput -- --tasks 1,64,512 --rounds 5 --round-ms 1000
//! ```
//!
//! Each task has its own lease and does one after the other, with permits enough for all, then with
//! an eighth of that. Beside it, round by round, the same tasks run the least that a semaphore in
//! Redis could be, on one connection: a script that counts the live entries of a sorted set and adds
//! one, and a script that removes it.

mod common;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use common::{Failure, Place, Progress, User};
use redis::Script;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinSet;

const ADD: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + 3600000, ARGV[1])
return 1";
const REMOVE: &str = "return redis.call('ZREM', KEYS[1], ARGV[1])";

/// Measures acquire + release cycles, beside a bare pair of scripts
#[derive(Parser)]
struct Options {
    /// Redis to use
    #[arg(long, env = "GRACKLE_REDIS_URL", default_value = "redis://127.0.0.1:6379")]
    redis_url: String,

    /// How many tasks at once
    #[arg(long, env = "THROUGHPUT_TASKS", value_delimiter = ',', default_value = "1,64,512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Vec<u32>,

    /// Rounds of each kind; their medians count
    #[arg(long, env = "THROUGHPUT_ROUNDS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How long a round takes, in milliseconds
    #[arg(long, env = "THROUGHPUT_ROUND_MS", default_value_t = 1_000)]
    round_ms: u64,
}

/// So many tasks for so many permits.
#[derive(Clone, Copy)]
struct Load {
    tasks: u32,
    permits: u32,
}

/// Cycles a second, round by round.
struct Rates {
    grackle: Vec<f64>,
    bare: Vec<f64>,
}

#[tokio::main]
async fn main() -> ExitCode {
    common::report(run(Options::parse()).await)
}

async fn run(options: Options) -> Result<(), Failure> {
    let place = Place::open(&options.redis_url, "throughput").await?;
    let measured = measure_all(&options, &place).await;
    place.close().await?;
    print(&measured?);
    Ok(())
}

/// Every number of tasks with permits for all; the crowds with an eighth of that too.
fn loads(options: &Options) -> Vec<Load> {
    let enough = options.tasks.iter().map(|&tasks| Load { tasks, permits: tasks });
    let crowds = options.tasks.iter().filter(|&&tasks| tasks >= 8);
    enough.chain(crowds.map(|&tasks| Load { tasks, permits: tasks / 8 })).collect()
}

async fn measure_all(options: &Options, place: &Place) -> Result<Vec<(Load, Rates)>, Failure> {
    let loads = loads(options);
    let progress = Progress::new("rounds", loads.len() as u64 * 2 * u64::from(options.rounds));
    let mut measured = Vec::new();
    for load in loads {
        measured.push((load, measure(options, place, load, &progress).await?));
    }
    Ok(measured)
}

async fn measure(
    options: &Options,
    place: &Place,
    load: Load,
    progress: &Progress,
) -> Result<Rates, Failure> {
    let users = users(place, load).await?;
    let entries = entries(&options.redis_url, load).await?;
    let length = Duration::from_millis(options.round_ms);
    let mut rates = Rates { grackle: Vec::new(), bare: Vec::new() };
    for _ in 0..options.rounds {
        rates.grackle.push(round(&users, length).await?);
        progress.add();
        rates.bare.push(round(&entries, length).await?);
        progress.add();
    }
    Ok(rates)
}

async fn users(place: &Place, load: Load) -> Result<Vec<User>, Failure> {
    let semaphore = format!("{}-for-{}", load.permits, load.tasks);
    place.create_semaphore(&semaphore, load.permits.into()).await?;
    let mut users = Vec::new();
    for _ in 0..load.tasks {
        users.push(place.user(place.client(), &semaphore).await?);
    }
    Ok(users)
}

/// Always enough permits: a bare pair of scripts has nothing to wait with.
async fn entries(url: &str, load: Load) -> Result<Vec<Entry>, Failure> {
    let connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let key = format!("grackle-examples:{}", nanoid::nanoid!());
    let entry = |i: u32| Entry {
        connection: connection.clone(),
        add: Script::new(ADD),
        remove: Script::new(REMOVE),
        key: key.clone(),
        member: format!("member-{i}"),
        limit: load.tasks,
    };
    Ok((0..load.tasks).map(entry).collect())
}

/// Cycles a second of all together, each doing one after the other for that long.
async fn round<C: Cycle>(all: &[C], length: Duration) -> Result<f64, Failure> {
    let began = Instant::now();
    let mut running = JoinSet::new();
    for one in all.iter().cloned() {
        running.spawn(repeat(one, began + length));
    }
    let mut cycles = 0;
    for one in running.join_all().await {
        cycles += one?;
    }
    Ok(f64::from(cycles) / began.elapsed().as_secs_f64())
}

async fn repeat<C: Cycle>(one: C, until: Instant) -> Result<u32, Failure> {
    let mut cycles = 0;
    while Instant::now() < until {
        one.cycle().await?;
        cycles += 1;
    }
    Ok(cycles)
}

/// Something that is taken, then given back.
trait Cycle: Clone + Send + 'static {
    fn cycle(&self) -> impl Future<Output = Result<(), Failure>> + Send;
}

impl Cycle for User {
    async fn cycle(&self) -> Result<(), Failure> {
        self.acquire().await?;
        Ok(self.release().await?)
    }
}

/// A member of a sorted set, added and removed by bare scripts.
#[derive(Clone)]
struct Entry {
    connection: MultiplexedConnection,
    add: Script,
    remove: Script,
    key: String,
    member: String,
    limit: u32,
}

impl Cycle for Entry {
    async fn cycle(&self) -> Result<(), Failure> {
        let mut connection = self.connection.clone();
        let mut add = self.add.key(&self.key);
        add.arg(&self.member).arg(self.limit);
        let added: u32 = add.invoke_async(&mut connection).await?;
        let mut remove = self.remove.key(&self.key);
        let removed: u32 = remove.arg(&self.member).invoke_async(&mut connection).await?;
        if (added, removed) == (1, 1) { Ok(()) } else { Err("the bare scripts failed".into()) }
    }
}

fn print(measured: &[(Load, Rates)]) {
    println!("cycles a second, medians");
    println!("tasks permits   Grackle  bare pair  ratio");
    for (Load { tasks, permits }, rates) in measured {
        let (grackle, bare) = (median(&rates.grackle), median(&rates.bare));
        let ratio = grackle / bare;
        println!("{tasks:5} {permits:7} {grackle:9.0} {bare:10.0} {ratio:6.2}");
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        sorted[middle - 1..=middle].iter().sum::<f64>() / 2.0
    }
}
