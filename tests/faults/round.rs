//! A round: callers call, a fault strikes now and then, all is checked.

use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use crate::caller::{Caller, Common};
use crate::check::{self, Findings, SETTLES, Strike};
use crate::fault::{Fault, Unreachable};
use crate::fleet::{Fleet, PERMITS};
use crate::history::History;
use crate::observer::Observer;
use grackle_test_support::eventually;

const OPERATIONS: &str = "GRACKLE_FAULTS_OPERATIONS";
const SEED: &str = "GRACKLE_FAULTS_SEED";
const TABLE: &str = "GRACKLE_FAULTS_TABLE";

/// Those of a short round.
const FEW: u64 = 2_000;
const LEAST_STRIKES: usize = 3;
/// So many strikes, then calm.
const A_STORM: usize = 12;
const CALLERS: usize = 32;
/// How long all calls may take to end once nothing strikes any more: the longest wait, and the time
/// for which lost connections are retried.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// Short leases, and those who hung up.
const SETTLES_WITHIN: Duration = Duration::from_secs(20);
const SHOWN: usize = 10;

pub(crate) async fn play(fault: Fault) {
    let seed = number(SEED).unwrap_or_else(|| fastrand::u64(..));
    eprintln!("{}: {SEED}={seed}", fault.name());
    let Some(mut fleet) = Fleet::start(fault).await else {
        println!("skipped: {}: no libfaketime on this machine", fault.name());
        return to_table(&format!("| {} | skipped | 0 | 0 | 0 |\n", fault.name()));
    };
    let observer = Observer::of(&fleet);
    let common = Arc::new(Common {
        nodes: fleet.nodes(),
        habits: fault.habits(),
        operations: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    });
    let mut rng = Rng::with_seed(seed);
    let nodes = fault.nodes(common.nodes.len()).cycle().take(CALLERS);
    let callers: Vec<_> = nodes
        .map(|node| tokio::spawn(Caller::run(Arc::clone(&common), node, rng.u64(..))))
        .collect();
    let strikes = storm(fault, &mut fleet, &common, &mut rng).await;
    let (history, ended) = finish(&common, callers).await;
    let sightings = observer.finish().await;
    let mut findings = check::all(&history, &strikes, &sightings, common.habits);
    findings.add(ended);
    findings.add(left_over(fleet).await);
    let row = Row { fault, strikes: strikes.len(), operations: &common.operations, findings };
    row.print(seed);
}

/// Strikes again and again until callers have done enough; the last fifth of it is calm.
async fn storm(fault: Fault, fleet: &mut Fleet, common: &Common, rng: &mut Rng) -> Vec<Strike> {
    let enough = number(OPERATIONS).unwrap_or(FEW);
    let done = || common.operations.load(Ordering::Relaxed);
    let mut strikes: Vec<Strike> = Vec::new();
    while done() < enough * 4 / 5 || strikes.len() < LEAST_STRIKES {
        let calm = strikes.len() % A_STORM == A_STORM - 1;
        tokio::time::sleep(pause(&strikes, calm, rng)).await;
        let from = Instant::now();
        let unreachable = fault.strike(fleet, rng).await;
        strikes.push(Strike { unreachable, from, until: Instant::now() });
    }
    tokio::time::sleep(pause(&strikes, true, rng)).await;
    let calm = done() + enough / 5;
    eventually("callers go on", ENDS_WITHIN * 10, async || (done() >= calm).then_some(())).await;
    strikes
}

/// Short; but where there is to be calm, as long as it takes until all nodes are held to what is
/// promised of those that listen, and some more.
fn pause(strikes: &[Strike], calm: bool, rng: &mut Rng) -> Duration {
    let short = Duration::from_millis(rng.u64(50..600));
    let all_unreachable =
        strikes.iter().filter(|strike| calm && strike.unreachable == Unreachable::All);
    let settled = all_unreachable.map(|strike| strike.until + SETTLES).max();
    short + settled.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()))
}

/// Every call comes to its end.
async fn finish(common: &Common, callers: Vec<JoinHandle<History>>) -> (History, Findings) {
    common.stop.store(true, Ordering::Relaxed);
    let (mut history, mut findings) = (History::default(), Findings::default());
    let deadline = tokio::time::Instant::now() + ENDS_WITHIN;
    for caller in callers {
        let ended = tokio::time::timeout_at(deadline, caller).await;
        findings.check(ended.is_ok(), || "a call does not end".to_owned());
        if let Ok(ended) = ended {
            history.add(ended.expect("callers don't panic"));
        }
    }
    (history, findings)
}

/// Nobody calls any more: everything is given back by itself, and no key is left.
async fn left_over(fleet: Fleet) -> Findings {
    let mut findings = Findings::default();
    let looked = AssertUnwindSafe(async move {
        for index in 0..PERMITS.len() {
            let name = Fleet::semaphore(index);
            eventually("all is given back", SETTLES_WITHIN, async || {
                let state = fleet.space.state_of(&name).await;
                (state.active_holds == 0 && state.waiting_count == 0).then_some(())
            })
            .await;
        }
        fleet.redis.assert_nothing_left(&fleet.space.client).await;
    });
    let looked = looked.catch_unwind().await;
    findings.check(looked.is_ok(), || "something is left over (see above)".to_owned());
    findings
}

struct Row<'a> {
    fault: Fault,
    strikes: usize,
    operations: &'a AtomicU64,
    findings: Findings,
}

impl Row<'_> {
    fn print(&self, seed: u64) {
        let violations = &self.findings.violations;
        let operations = self.operations.load(Ordering::Relaxed);
        let row = format!(
            "| {} | {} | {operations} | {} | {} |\n",
            self.fault.name(),
            self.strikes,
            self.findings.checks,
            violations.len()
        );
        print!("{row}");
        to_table(&row);
        let mut said = String::new();
        for violation in violations.iter().take(SHOWN) {
            let _ = writeln!(said, "- {violation}");
        }
        assert!(violations.is_empty(), "{SEED}={seed}: {} violations:\n{said}", violations.len());
    }
}

fn to_table(row: &str) {
    if let Some(path) = std::env::var_os(TABLE) {
        let file = std::fs::File::options().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(row.as_bytes())).expect("a file to write to");
    }
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {value:?}")))
}
