//! How soon a released permit is the next waiter's: from the call of release to the waiter's answer.
//!
//! ```text
//! cargo run --release --example hand_off -- --count 2000
//! ```
//!
//! Two clients, as on two nodes, hand one permit to and fro. Beside it, in the same run, the least
//! that Redis could do for that: a script that publishes, until its reply and its message are there.

#[path = "common/baton.rs"]
mod baton;
mod common;
#[path = "common/times.rs"]
mod times;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use baton::Baton;
use clap::Parser;
use common::{Failure, Place, Progress};
use futures_util::StreamExt;
use redis::Script;
use redis::aio::{MultiplexedConnection, PubSub};
use times::Times;

const PUBLISH: &str = "return redis.call('PUBLISH', KEYS[1], ARGV[1])";
/// Samples before the other kind has its turn.
const TURN: u32 = 50;

/// Measures hand-offs between two nodes, beside a bare script that publishes
#[derive(Parser)]
struct Options {
    /// Redis to use
    #[arg(long, env = "GRACKLE_REDIS_URL", default_value = "redis://127.0.0.1:6379")]
    redis_url: String,

    /// Samples of each kind
    #[arg(long, env = "HAND_OFF_COUNT", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    common::report(run(Options::parse()).await)
}

async fn run(options: Options) -> Result<(), Failure> {
    let place = Place::open(&options.redis_url, "hand-off").await?;
    let measured = measure(&options, &place).await;
    place.close().await?;
    let (grackle, bare) = measured?;
    print(options.count, &grackle, &bare);
    Ok(())
}

async fn measure(options: &Options, place: &Place) -> Result<(Times, Times), Failure> {
    let (mut grackle, mut bare) = (Times::new()?, Times::new()?);
    let mut baton = Baton::new(&options.redis_url, place).await?;
    let mut wire = Wire::new(&options.redis_url).await?;
    let progress = Progress::new("hand-offs", options.count.into());
    // Not measured: the first of each loads its scripts.
    baton.hand_on().await?;
    wire.publish().await?;
    let mut left = options.count;
    while left > 0 {
        let turn = left.min(TURN);
        for _ in 0..turn {
            grackle.add(baton.hand_on().await?)?;
            progress.add();
        }
        for _ in 0..turn {
            bare.add(wire.publish().await?)?;
        }
        left -= turn;
    }
    Ok((grackle, bare))
}

/// A connection that publishes, and one that listens.
struct Wire {
    publisher: MultiplexedConnection,
    subscriber: PubSub,
    script: Script,
    channel: String,
}

impl Wire {
    async fn new(url: &str) -> Result<Self, Failure> {
        let client = redis::Client::open(url)?;
        let channel = format!("grackle-examples:{}", nanoid::nanoid!());
        let mut subscriber = client.get_async_pubsub().await?;
        subscriber.subscribe(&channel).await?;
        let publisher = client.get_multiplexed_async_connection().await?;
        Ok(Self { publisher, subscriber, script: Script::new(PUBLISH), channel })
    }

    async fn publish(&mut self) -> Result<Duration, Failure> {
        let mut call = self.script.key(&self.channel);
        let mut messages = self.subscriber.on_message();
        let called = Instant::now();
        let replied = call.arg("message").invoke_async::<i64>(&mut self.publisher);
        let (replied, message) = tokio::join!(replied, messages.next());
        let took = called.elapsed();
        replied?;
        message.ok_or("the subscriber's connection is lost")?;
        Ok(took)
    }
}

fn print(count: u32, grackle: &Times, bare: &Times) {
    println!("{count} of each, in ms          p50     p90     p99     max");
    print_row("release to waiter's answer", grackle);
    print_row("bare EVALSHA that publishes", bare);
    let ratio = |share| grackle.quantile(share) / bare.quantile(share);
    println!("{:27} {:7.2} {:7.2} {:7.2}", "ratio", ratio(0.5), ratio(0.9), ratio(0.99));
}

fn print_row(what: &str, times: &Times) {
    let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|share| times.quantile(share));
    println!("{what:27} {p50:7.3} {p90:7.3} {p99:7.3} {max:7.3}");
}
