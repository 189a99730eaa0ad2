//! What has to hold.
//!
//! What has to come about in the end is looked at when the world has come to rest: no more events,
//! and time enough to get over those that were. Every path ends there, so that says as much as an
//! eventuality, which the checker may miss where paths meet.

use std::collections::BTreeSet;

use stateright::Property;

use crate::World;
use crate::spec::{Call, Hold, Semaphore};
use crate::state::{NS, Phase, SEM, State};

pub(crate) const ANSWERED: &str = "who was answered holds";
pub(crate) const GRANTED: &str = "a live waiter that fits is granted, and knows it";

pub(crate) fn all() -> Vec<Property<World>> {
    vec![
        Property::always("never more is held than there is", |_, state| {
            semaphore(state).held() <= semaphore(state).permits
        }),
        Property::always("the places are given to as many as have them", |_, state| {
            let tokens = semaphore(state).holds.values().map(|hold| hold.token);
            tokens.collect::<BTreeSet<_>>().len() == semaphore(state).holds.len()
        }),
        Property::always(ANSWERED, answered),
        Property::always("nobody holds what nobody was answered", claimed),
        Property::always("every wait ends", |_, state: &State| {
            let open = |call: usize| {
                let over = state.calls[call].ends_at.is_some_and(|ends_at| ends_at <= state.tick);
                over && !matches!(state.calls[call].phase, Phase::Holds(_) | Phase::Ended)
            };
            !state.is_at_rest() || !live(state).any(open)
        }),
        Property::always(GRANTED, |world, state: &State| {
            !state.is_at_rest() || granted(world, state)
        }),
        Property::sometimes("it comes to rest", |_, state: &State| state.is_at_rest()),
    ]
}

fn semaphore(state: &State) -> &Semaphore {
    &state.redis.namespaces[NS].semaphores[SEM]
}

fn live(state: &State) -> impl Iterator<Item = usize> {
    (0..state.calls.len()).filter(|call| state.is_live(*call))
}

/// Unless its lease has ended: of that a caller hears otherwise.
fn answered(world: &World, state: &State) -> bool {
    let leases = &state.redis.namespaces[NS].leases;
    let holds = |call: usize| match state.calls[call].phase {
        Phase::Holds(token) => {
            let lease = world.plans[call].lease;
            let hold = semaphore(state).holds.get(lease);
            hold.is_some_and(|hold| hold.token == token) || !leases.contains_key(lease)
        }
        _ => true,
    };
    live(state).all(holds)
}

/// Every hold is some call's: its answer, or still on its way to it.
fn claimed(world: &World, state: &State) -> bool {
    let knows = |hold: &Hold, call: usize| {
        let ticket = state.ticket(call);
        hold.grants.iter().any(|grant| {
            grant.answered.contains(&ticket)
                || grant.parked.iter().any(|call| call.ticket == ticket)
        })
    };
    let is_somebodys = |lease: &str, hold: &Hold| {
        let mut calls = (0..state.calls.len()).filter(|call| world.plans[*call].lease == lease);
        calls.any(|call| {
            let ended = state.calls[call].phase == Phase::Ended;
            let holds = matches!(state.calls[call].phase, Phase::Holds(_));
            holds || knows(hold, call) && !ended
        })
    };
    semaphore(state).holds.iter().all(|(lease, hold)| is_somebodys(lease, hold))
}

fn granted(world: &World, state: &State) -> bool {
    let semaphore = semaphore(state);
    let waits = |call: &usize| state.calls[*call].phase == Phase::Waits;
    let stands = |call: usize| {
        let (wait, ticket) = (semaphore.waits.get(world.plans[call].lease), state.ticket(call));
        let same = |call: &Call| call.ticket == ticket && !call.parked;
        wait.is_some_and(|wait| wait.calls.iter().any(same))
    };
    let all_stand = live(state).filter(waits).all(stands);
    let need = |call: usize| {
        let lease = world.plans[call].lease;
        semaphore.waits[lease].weight - semaphore.held_by(lease)
    };
    let place = |call: &usize| {
        let lease = world.plans[*call].lease;
        semaphore.place(lease, &semaphore.waits[lease])
    };
    let free = semaphore.permits - semaphore.held();
    all_stand && live(state).filter(waits).min_by_key(place).is_none_or(|call| need(call) > free)
}
