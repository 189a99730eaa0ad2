//! The reference model, and the real scripts beside it: whatever is done in whatever order, both
//! reply the same, say the same to the nodes, and leave the same behind, key by key.
//!
//! [`spec`] is the model. [`op`] are the steps, [`plan`] draws them at random, [`stage`] plays them
//! in Redis, [`keys`] says how the model's state stands there, [`promises`] are what has to hold of
//! the model itself. [`found`] are sequences that failed once.
//!
//! `GRACKLE_MODEL_STEPS` is how many steps are played, `GRACKLE_MODEL_SEED` plays those of that seed
//! (each run prints its own). A failure is shrunk, printed, and its seed kept in `regressions.txt`.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod found;
mod keys;
mod machine;
mod op;
mod plan;
mod promises;
mod spec;
mod stage;
mod subscriptions;

use std::hash::{BuildHasher, RandomState};
use std::thread;

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::machine::{Machine, Played};

const STEPS: usize = 100_000;
/// Each plays its part of them, beside the others: Redis and a player wait for each other.
const PLAYERS: u64 = 3;
const STEPS_A_CASE: usize = 120;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn the_scripts_do_what_the_model_does() {
    let steps = number("GRACKLE_MODEL_STEPS").map_or(STEPS, |steps| steps as usize);
    let seed = number("GRACKLE_MODEL_SEED").unwrap_or_else(|| RandomState::new().hash_one("seed"));
    eprintln!("{steps} steps; to play them again: GRACKLE_MODEL_SEED={seed}");
    thread::scope(|scope| {
        for player in 0..PLAYERS {
            let seed = seed.wrapping_add(player);
            scope.spawn(move || play(steps.div_ceil(PLAYERS as usize), seed));
        }
    });
}

fn play(steps: usize, seed: u64) {
    let kept = FileFailurePersistence::Direct("tests/model/regressions.txt");
    let config = Config {
        cases: steps.div_ceil(STEPS_A_CASE) as u32,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: Some(Box::new(kept)),
        max_shrink_iters: 4_000,
        source_file: Some(file!()),
        ..Config::default()
    };
    let plans = Played::sequential_strategy(STEPS_A_CASE);
    let outcome = TestRunner::new(config.clone()).run(&plans, |(begin, steps, seen)| {
        Machine::test_sequential(config.clone(), begin, steps, seen);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\nGRACKLE_MODEL_SEED={seed}");
    }
}
