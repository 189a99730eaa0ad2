//! What a crowd that watches a semaphore costs those who use it.
//!
//! ```text
//! cargo run --release --example watchers -- --watchers 1000
//! ```
//!
//! Two clients, as on two nodes, hand one permit to and fro, in turns without anybody watching and
//! with a thousand who watch through the first of them.

#[path = "common/baton.rs"]
mod baton;
mod common;
#[path = "common/times.rs"]
mod times;

use std::process::ExitCode;

use baton::{Baton, SEMAPHORE};
use clap::Parser;
use common::place::KEY_PREFIX;
use common::{Failure, Place, Progress};
use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::WatchSemaphoreRequest;
use times::Times;
use tokio::task::JoinSet;

/// Hand-offs before the other kind has its turn.
const TURN: u32 = 250;

/// Measures hand-offs between two nodes while a crowd watches the semaphore, and while nobody does
#[derive(Parser)]
struct Options {
    /// Redis to use
    #[arg(long, env = "GRACKLE_REDIS_URL", default_value = "redis://127.0.0.1:6379")]
    redis_url: String,

    /// How many watch
    #[arg(long, default_value_t = 1_000)]
    watchers: u32,

    /// Hand-offs of each kind
    #[arg(long, default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    common::report(run(Options::parse()).await)
}

async fn run(options: Options) -> Result<(), Failure> {
    let place = Place::open(&options.redis_url, "watchers").await?;
    let measured = measure(&options, &place).await;
    place.close().await?;
    let (alone, watched, subscriptions) = measured?;
    println!("{} of each, in ms          p50     p90     p99     max", options.count);
    print_row("release to waiter's answer", &alone);
    print_row(&format!("with {} who watch", options.watchers), &watched);
    let ratio = |share| watched.quantile(share) / alone.quantile(share);
    println!("{:27} {:7.2} {:7.2} {:7.2}", "ratio", ratio(0.5), ratio(0.9), ratio(0.99));
    println!("subscriptions of the {} who watch: {subscriptions}", options.watchers);
    Ok(())
}

async fn measure(options: &Options, place: &Place) -> Result<(Times, Times, u64), Failure> {
    let (mut alone, mut watched) = (Times::new()?, Times::new()?);
    let mut subscriptions = 0;
    let mut baton = Baton::new(&options.redis_url, place).await?;
    let progress = Progress::new("hand-offs", u64::from(options.count) * 2);
    // Not measured: the first loads its scripts.
    baton.hand_on().await?;
    let mut left = options.count;
    while left > 0 {
        let turn = left.min(TURN);
        for _ in 0..turn {
            alone.add(baton.hand_on().await?)?;
            progress.add();
        }
        let crowd = watch(place, &baton, options.watchers).await?;
        for _ in 0..turn {
            watched.add(baton.hand_on().await?)?;
            progress.add();
        }
        subscriptions = subscribed(&options.redis_url, &baton).await?;
        drop(crowd);
        left -= turn;
    }
    Ok((alone, watched, subscriptions))
}

/// A crowd that watches until it is dropped; all have seen the state when this returns.
async fn watch(place: &Place, baton: &Baton, count: u32) -> Result<JoinSet<()>, Failure> {
    let mut crowd = JoinSet::new();
    for _ in 0..count {
        let mut states = place.client().watch_semaphore(WatchSemaphoreRequest {
            namespace_name: baton.holder.namespace.clone(),
            semaphore_name: SEMAPHORE.to_owned(),
        });
        states.next().await.ok_or("no state")??;
        crowd.spawn(async move {
            while let Some(Ok(SemaphoreEvent::Semaphore(state))) = states.next().await {
                std::hint::black_box(state);
            }
        });
    }
    Ok(crowd)
}

async fn subscribed(url: &str, baton: &Baton) -> Result<u64, Failure> {
    let channel = format!("{KEY_PREFIX}:{{{}}}:watch:{SEMAPHORE}", baton.holder.namespace);
    let mut connection = redis::Client::open(url)?.get_multiplexed_async_connection().await?;
    let mut ask = redis::cmd("PUBSUB");
    let (_, count): (String, u64) =
        ask.arg("NUMSUB").arg(channel).query_async(&mut connection).await?;
    Ok(count)
}

fn print_row(what: &str, times: &Times) {
    let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|share| times.quantile(share));
    println!("{what:27} {p50:7.3} {p90:7.3} {p99:7.3} {max:7.3}");
}
