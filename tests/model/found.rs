//! Sequences in which the scripts and the model once differed.

use grackle_client::wire::QueueDiscipline;
use proptest::test_runner::Config;
use proptest_state_machine::StateMachineTest;

use crate::machine::{Machine, Played};
use crate::op::{Op, Step};
use crate::plan::{Begin, LEASES};
use crate::spec::{AcquireArguments, From, MAX_PERMITS, Name, Queue, Tag, Ticket, WaitingCall};
use grackle_test_support::script_world::{NS, SEM};

const HOUR: i64 = 3_600_000_000;
const K: Name = "k";
const A: Name = LEASES[0];
const B: Name = LEASES[1];

fn play(permits: i64, ops: Vec<Op>) {
    play_from(Begin::with(permits), ops);
}

fn play_from(begin: Begin, ops: Vec<Op>) {
    let steps = ops.into_iter().map(Step).collect();
    Machine::test_sequential(Config::default(), Played::new(begin), steps, None);
}

fn acquire(lease: Name, number: u32, weight: i64) -> Op {
    let (ticket, timeout) = (Ticket { node: K, number }, HOUR);
    let wanted = AcquireArguments {
        semaphore: SEM,
        lease,
        ticket,
        weight,
        share: 1,
        label: 0,
        timeout,
        listening: true,
    };
    Op::Acquire { ns: NS, wanted }
}

fn call(lease: Name, number: u32) -> WaitingCall {
    WaitingCall { lease, semaphore: SEM, ticket: Ticket { node: K, number } }
}

#[test]
fn the_oldest_grant_that_is_remembered_shrinks_with_the_others() {
    let takes = (0..8).map(|number| acquire(A, number, if number == 7 { 1 } else { 5 }));
    let cancels = (0..8).rev().map(|number| Op::Cancel { ns: NS, call: call(A, number) });
    play(5, takes.chain([acquire(B, 9, 4)]).chain(cancels).collect());
}

#[test]
fn a_page_behind_an_entry_that_has_moved_ahead_does_not_show_it_again() {
    let from = From::After(Tag(crate::plan::START as f64 + 1.0), A.to_owned());
    let list = Op::ListHolders { ns: NS, name: SEM, from, limit: 1 };
    let takes = [acquire(A, 0, 1), Op::Passes { time: 1 }, acquire(A, 1, 2)];
    let undo = Op::Cancel { ns: NS, call: call(A, 1) };
    play(2, takes.into_iter().chain([list.clone(), undo, list]).collect());
}

/// The script that parked them had not read the queue by then.
#[test]
fn whose_first_is_parked_by_a_sweep_moves_up() {
    let queue = Queue { discipline: QueueDiscipline::Weighted, max_waiters: None };
    let [a, c, d] = [LEASES[0], LEASES[2], LEASES[3]];
    let waits = [acquire(d, 0, 1), acquire(c, 1, 3), acquire(a, 2, 1)];
    let swept = [Op::Passes { time: 15_000_000 }, Op::GetSemaphore { ns: NS, name: SEM }];
    play_from(Begin { queue, ..Begin::with(3) }, waits.into_iter().chain(swept).collect());
}

#[test]
fn a_heavy_hold_that_shrinks_is_counted_exactly() {
    play(MAX_PERMITS, vec![acquire(A, 0, MAX_PERMITS - 1), acquire(A, 1, 3)]);
}

#[test]
fn a_heavy_hold_that_waits_to_grow_is_admitted_exactly() {
    let takes = [acquire(A, 0, 4), acquire(B, 1, 1), acquire(A, 2, MAX_PERMITS)];
    let release = Op::Release { ns: NS, name: SEM, lease: B };
    play(MAX_PERMITS, takes.into_iter().chain([release]).collect());
}
