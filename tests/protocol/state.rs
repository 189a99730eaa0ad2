//! A world at one moment.

use crate::spec::{
    AcquireArguments, Answer, Fate, Limits, Micros, Model, Name, Outcome, Queue, Said, Ticket,
    WaitingCall,
};
use crate::{Mechanism, Plan, World};

pub(crate) const NS: Name = "ns";
pub(crate) const SEM: Name = "s";
pub(crate) const NODES: [Name; 2] = ["m", "n"];
/// From sweep to sweep.
pub(crate) const TICK: Micros = 5_000_000;
/// Until then anything may happen; afterwards what has happened is got over.
pub(crate) const LAST_EVENT: u8 = 1;
/// An alive mark, and two re-checks.
pub(crate) const REST: u8 = LAST_EVENT + 6;
const SHORT: u8 = 2;
const LONG: Micros = 3_600_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) redis: Model,
    pub(crate) nodes: Vec<Node>,
    pub(crate) calls: Vec<Call>,
    /// Messages on their way, in no order.
    pub(crate) flying: Vec<Message>,
    pub(crate) tick: u8,
    pub(crate) faults: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub(crate) life: Life,
    pub(crate) hears: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Life {
    Alive,
    /// It does nothing, and does not know it.
    Frozen,
    Stopped,
    Dead,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) phase: Phase,
    pub(crate) node: usize,
    /// How often it went to another node: then it is another call to Redis.
    pub(crate) moves: u32,
    pub(crate) ends_at: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// Not asked yet, or known to be lost.
    Idle,
    /// Asked, and the reply was lost.
    Unsure,
    Waits,
    /// Answered so, with this token.
    Holds(i64),
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Message {
    pub(crate) node: usize,
    pub(crate) ticket: Ticket,
    /// The token, or that it failed.
    pub(crate) token: Option<i64>,
}

impl State {
    pub(crate) fn new(world: &World) -> Self {
        let (semaphores, leases, holders, waiters, holds_per_lease) = (9, 9, 9, 9, 9);
        let limits = Limits { semaphores, leases, holders, waiters, holds_per_lease };
        let mut redis = Model::new(0, &[], limits);
        redis.create_namespace("made", NS, 0).expect("a namespace");
        redis
            .create_semaphore("made", NS, SEM, world.permits, Queue::default(), 0)
            .expect("a semaphore");
        for plan in &world.plans {
            redis.create_lease(NS, plan.lease, "p", LONG, 0).expect("a lease");
        }
        redis.said();
        let node = Node { life: Life::Alive, hears: false };
        let call =
            |plan: &Plan| Call { phase: Phase::Idle, node: plan.node, moves: 0, ends_at: None };
        let calls = world.plans.iter().map(call).collect();
        let (nodes, flying, faults) = (vec![node; NODES.len()], Vec::new(), world.faults);
        Self { redis, nodes, calls, flying, tick: 0, faults }
    }

    pub(crate) fn ticket(&self, call: usize) -> Ticket {
        let Call { node, moves, .. } = self.calls[call];
        Ticket { node: NODES[node], number: call as u32 * 10 + moves }
    }

    pub(crate) fn asked(&self, world: &World, call: usize) -> WaitingCall {
        WaitingCall { lease: world.plans[call].lease, semaphore: SEM, ticket: self.ticket(call) }
    }

    pub(crate) fn is_alive(&self, node: usize) -> bool {
        self.nodes[node].life == Life::Alive
    }

    /// Is there somebody to whom it matters what becomes of the call?
    pub(crate) fn is_live(&self, call: usize) -> bool {
        self.is_alive(self.calls[call].node)
    }

    pub(crate) fn pending(&self, node: usize) -> Vec<usize> {
        let waits = |call: &usize| {
            let Call { phase, node: at, .. } = self.calls[*call];
            at == node && matches!(phase, Phase::Waits | Phase::Unsure)
        };
        (0..self.calls.len()).filter(waits).collect()
    }

    /// Runs the script of an acquire; `received` if its reply comes back.
    pub(crate) fn ask(&mut self, world: &World, call: usize, received: bool) {
        let plan = world.plans[call];
        let ends_at = plan.is_short.then_some(self.tick + SHORT);
        let ends_at = *self.calls[call].ends_at.get_or_insert(ends_at.unwrap_or(u8::MAX));
        let left = Micros::from(ends_at.saturating_sub(self.tick)) * TICK;
        let wanted = AcquireArguments {
            semaphore: SEM,
            lease: plan.lease,
            ticket: self.ticket(call),
            weight: plan.weight,
            share: 1,
            label: 0,
            timeout: if plan.is_short { left } else { LONG },
            listening: self.nodes[self.calls[call].node].hears,
        };
        let reply = self.redis.acquire(NS, wanted);
        self.publish();
        if received { self.answer(call, reply) } else { self.calls[call].phase = Phase::Unsure }
    }

    pub(crate) fn answer(&mut self, call: usize, reply: Result<Answer, &'static str>) {
        self.calls[call].phase = match reply {
            Ok(Answer::Outcome(Outcome::Acquired { token, .. })) => Phase::Holds(token),
            Ok(Answer::Outcome(Outcome::Waiting { .. })) => Phase::Waits,
            _ => Phase::Ended,
        };
    }

    /// What a script has said is on its way to those who hear it.
    pub(crate) fn publish(&mut self) {
        for said in self.redis.said() {
            let Said::Ended { node, tickets, how } = said else { continue };
            let node = NODES.iter().position(|name| *name == node).expect("a node");
            let token = match how {
                Outcome::Acquired { token, .. } => Some(token),
                _ => None,
            };
            if self.nodes[node].hears {
                let message = |ticket| Message { node, ticket, token };
                self.flying.extend(tickets.into_iter().map(message));
            }
        }
        self.flying.sort();
    }

    pub(crate) fn receive(&mut self, world: &World, message: Message) {
        let named = |call: &usize| self.ticket(*call) == message.ticket;
        let of_lease = |call: &usize| {
            let named = message.ticket.number as usize / 10;
            world.plans[*call].lease == world.plans[named].lease
                && self.calls[*call].node == message.node
        };
        let pending = self.pending(message.node).into_iter();
        let call = if world.has(Mechanism::Ticket) {
            pending.into_iter().find(named)
        } else {
            pending.into_iter().find(of_lease)
        };
        if let Some(call) = call {
            self.calls[call].phase = message.token.map_or(Phase::Ended, Phase::Holds);
        }
    }

    /// Asks Redis about all calls of a node.
    pub(crate) fn resume(&mut self, world: &World, node: usize) {
        let calls = self.pending(node);
        let asked: Vec<_> = calls.iter().map(|call| self.asked(world, *call)).collect();
        let Ok(Answer::CallState { fates, .. }) = self.redis.resume(NS, &asked) else {
            unreachable!("the namespace is there");
        };
        self.publish();
        self.meet(&calls, fates);
    }

    pub(crate) fn meet(&mut self, calls: &[usize], fates: Vec<Fate>) {
        for (call, fate) in calls.iter().zip(fates) {
            match fate {
                Fate::Waits => {}
                Fate::Lost => self.calls[*call].phase = Phase::Idle,
                Fate::Granted(outcome) => self.answer(*call, Ok(Answer::Outcome(outcome))),
            }
        }
    }

    /// A node's round: sign of life, re-check, and the end of calls whose time is over.
    pub(crate) fn round(&mut self, world: &World, node: usize) {
        let pending = self.pending(node).len();
        if pending == 0 {
            return;
        }
        let Ok(Answer::Swept { waiting, .. }) = self.redis.sweep(NS, NODES[node]) else {
            unreachable!("a sweep is always answered");
        };
        self.publish();
        let in_doubt = waiting < pending || self.tick.is_multiple_of(2);
        if world.has(Mechanism::Recheck) && in_doubt {
            self.resume(world, node);
        }
        for call in self.pending(node) {
            if self.calls[call].ends_at.is_some_and(|ends_at| ends_at <= self.tick) {
                let reply =
                    self.redis.time_out(NS, self.asked(world, call), (world.plans[call].weight, 1));
                self.publish();
                self.answer(call, reply);
            }
        }
    }
}
