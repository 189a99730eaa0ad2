//! The protocol around the scripts, explored in every order of events that a small world has.
//!
//! The scripts are the reference model of `tests/model`. Around it are nodes that die, freeze, stop
//! or lose their connection, messages that are lost, doubled, late and out of order, replies that
//! never come, and calls that are cancelled. [`state`] is such a world, [`step`] what may happen to
//! it, [`checks`] what has to hold.
//!
//! A property that can't fail shows nothing: each mechanism is taken away once, and is missed.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod checks;
#[path = "../model/spec/mod.rs"]
mod spec;
mod state;
mod step;

use stateright::{Checker, Model, Property};

use crate::spec::Name;
use crate::state::State;
use crate::step::Step;

/// A small world: the calls that are made there, and how much may go wrong.
#[derive(Debug, Clone)]
pub(crate) struct World {
    permits: i64,
    plans: Vec<Plan>,
    faults: u8,
    without: Option<Mechanism>,
}

/// One call, as its caller means it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    lease: Name,
    weight: i64,
    node: usize,
    /// Its time is over within the world's.
    is_short: bool,
    /// Made when that one has ended.
    after: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// A node asks about its calls now and then, whatever it received.
    Recheck,
    /// A message names the call that it answers, not just the lease.
    Ticket,
    /// A waiter whose node is not there is passed over.
    SetAside,
}

fn plan(lease: Name, weight: i64, node: usize) -> Plan {
    Plan { lease, weight, node, is_short: false, after: None }
}

impl World {
    fn new(permits: i64, faults: u8, plans: &[Plan]) -> Self {
        Self { permits, plans: plans.to_vec(), faults, without: None }
    }

    fn without(self, mechanism: Mechanism) -> Self {
        Self { without: Some(mechanism), ..self }
    }

    fn has(&self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }

    fn holds(self) {
        let checked = self.checker().threads(2).spawn_dfs().join();
        eprintln!("{} states, {} deep", checked.unique_state_count(), checked.max_depth());
        checked.assert_properties();
    }

    /// Fails in that one way.
    fn misses(self, property: &'static str) {
        let checked = self.checker().threads(2).spawn_bfs().join();
        let path = checked.assert_any_discovery(property);
        eprintln!("{:?}", path.into_actions());
    }
}

impl Model for World {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        *steps = state.steps(self);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut state = state.clone();
        state.take(self, step);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        checks::all()
    }
}

#[test]
fn one_permit_two_leases() {
    World::new(1, 3, &[plan("a", 1, 0), plan("b", 1, 1)]).holds();
}

#[test]
fn one_permit_three_leases() {
    World::new(1, 2, &[plan("a", 1, 0), plan("b", 1, 1), plan("c", 1, 0)]).holds();
}

#[test]
fn two_permits_a_heavy_call_and_light_ones() {
    World::new(2, 2, &[plan("a", 1, 0), plan("b", 2, 1), plan("c", 1, 0)]).holds();
}

#[test]
fn a_call_whose_time_is_over() {
    let short = Plan { is_short: true, ..plan("b", 1, 1) };
    World::new(1, 3, &[plan("a", 1, 0), short]).holds();
}

#[test]
fn two_calls_of_one_lease() {
    World::new(1, 1, &[plan("a", 1, 0), plan("b", 1, 0), plan("b", 1, 1)]).holds();
}

#[test]
fn a_lease_that_comes_again() {
    World::new(1, 1, &COMES_AGAIN).holds();
}

const COMES_AGAIN: [Plan; 3] = [
    Plan { lease: "a", weight: 1, node: 0, is_short: false, after: None },
    Plan { lease: "a", weight: 1, node: 0, is_short: false, after: Some(0) },
    Plan { lease: "b", weight: 1, node: 1, is_short: false, after: None },
];

#[test]
fn a_waiter_is_left_behind_without_the_recheck() {
    let world = World::new(1, 1, &[plan("a", 1, 0), plan("b", 1, 1)]);
    world.without(Mechanism::Recheck).misses(checks::GRANTED);
}

#[test]
fn a_doubled_message_grants_what_is_not_held_without_the_ticket() {
    World::new(1, 1, &COMES_AGAIN).without(Mechanism::Ticket).misses(checks::ANSWERED);
}

#[test]
fn a_dead_node_holds_up_the_queue_without_the_parked() {
    let world = World::new(2, 1, &[plan("a", 1, 0), plan("b", 2, 1), plan("c", 1, 0)]);
    world.without(Mechanism::SetAside).misses(checks::GRANTED);
}
