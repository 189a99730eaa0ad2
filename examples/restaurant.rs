//! A theatre lets out: 200 parties arrive at once, at a restaurant with 20 tables.
//!
//! ```text
//! cargo run --example restaurant -- --parties 200 --tables 20 --meal-ms 100
//! ```
//!
//! The tables are a semaphore, each party is a lease. Whoever leaves hands the table to the next in
//! line, so that the tables are as full as they can be and nobody asks twice.

mod common;
#[path = "common/times.rs"]
mod times;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use common::{Failure, Place, Progress, User};
use times::Times;
use tokio::task::JoinSet;

const TABLES: &str = "tables";

/// Seats parties at tables, and tells how full the tables were and how long the parties waited
#[derive(Clone, Parser)]
struct Options {
    /// Redis to use
    #[arg(long, env = "GRACKLE_REDIS_URL", default_value = "redis://127.0.0.1:6379")]
    redis_url: String,

    /// Parties that arrive
    #[arg(long, env = "RESTAURANT_PARTIES", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    parties: u32,

    /// Tables
    #[arg(long, env = "RESTAURANT_TABLES", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    tables: u32,

    /// How long a party stays, in milliseconds
    #[arg(long, env = "RESTAURANT_MEAL_MS", default_value_t = 100)]
    meal_ms: u64,
}

/// How it was for one party.
struct Visit {
    waited: Duration,
    seated: Duration,
}

/// How the evening was.
struct Evening {
    visits: Vec<Visit>,
    wall: Duration,
    scripts: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    common::report(run(Options::parse()).await)
}

async fn run(options: Options) -> Result<(), Failure> {
    let place = Place::open(&options.redis_url, "restaurant").await?;
    place.create_semaphore(TABLES, options.tables.into()).await?;
    let evening = open(&options, &place).await;
    place.close().await?;
    print(&options, &evening?)
}

async fn open(options: &Options, place: &Place) -> Result<Evening, Failure> {
    let mut parties = Vec::new();
    for _ in 0..options.parties {
        parties.push(place.user(place.client(), TABLES).await?);
    }
    let before = scripts_run(&options.redis_url).await?;
    let began = Instant::now();
    let visits = seat(parties, Duration::from_millis(options.meal_ms)).await?;
    let wall = began.elapsed();
    Ok(Evening { visits, wall, scripts: scripts_run(&options.redis_url).await? - before })
}

async fn seat(parties: Vec<User>, meal: Duration) -> Result<Vec<Visit>, Failure> {
    let progress = Arc::new(Progress::new("parties have dined", parties.len() as u64));
    let mut dining = JoinSet::new();
    for party in parties {
        let progress = Arc::clone(&progress);
        dining.spawn(async move {
            let visit = dine(&party, meal).await;
            progress.add();
            visit
        });
    }
    dining.join_all().await.into_iter().collect()
}

async fn dine(party: &User, meal: Duration) -> Result<Visit, Failure> {
    let arrived = Instant::now();
    party.acquire().await?;
    let seated = Instant::now();
    tokio::time::sleep(meal).await;
    let visit = Visit { waited: seated - arrived, seated: seated.elapsed() };
    party.release().await?;
    Ok(visit)
}

/// How many scripts that Redis has run, for anybody.
async fn scripts_run(url: &str) -> Result<u64, Failure> {
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let info: String = redis::cmd("INFO").arg("commandstats").query_async(&mut connection).await?;
    let calls = |line: &str| {
        let (calls, _) = line.strip_prefix("cmdstat_evalsha:calls=")?.split_once(',')?;
        calls.parse().ok()
    };
    Ok(info.lines().find_map(calls).unwrap_or(0))
}

fn print(options: &Options, evening: &Evening) -> Result<(), Failure> {
    let Options { parties, tables, meal_ms, .. } = options;
    println!("{parties} parties, {tables} tables, {meal_ms} ms a meal");
    println!("tables full  {:.1} % of the time", 100.0 * fullness(*tables, evening));
    print_waits(evening)?;
    print_wall(options, evening);
    println!("scripts      {:.2} an admission", evening.scripts as f64 / f64::from(*parties));
    Ok(())
}

/// Occupied table-time, as a share of all there was.
fn fullness(tables: u32, evening: &Evening) -> f64 {
    let occupied: Duration = evening.visits.iter().map(|visit| visit.seated).sum();
    occupied.as_secs_f64() / (evening.wall * tables).as_secs_f64()
}

fn print_waits(evening: &Evening) -> Result<(), Failure> {
    let mut waits = Times::new()?;
    for visit in &evening.visits {
        waits.add(visit.waited)?;
    }
    let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|share| waits.quantile(share));
    println!("waits        p50 {p50:.0} ms, p90 {p90:.0} ms, p99 {p99:.0} ms, max {max:.0} ms");
    Ok(())
}

fn print_wall(options: &Options, evening: &Evening) {
    let ideal = f64::from(options.parties) / f64::from(options.tables) * options.meal_ms as f64;
    let wall = evening.wall.as_secs_f64() * 1_000.0;
    let more = 100.0 * (wall / ideal - 1.0);
    println!("wall         {wall:.0} ms; parties ÷ tables × meal is {ideal:.0} ms ({more:+.1} %)");
}
