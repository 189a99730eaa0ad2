//! What may happen next.

use crate::spec::Answer;
use crate::state::{LAST_EVENT, Life, NODES, NS, Phase, REST, SEM, State, TICK};
use crate::{Mechanism, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Ask(usize),
    Release(usize),
    Cancel(usize),
    /// The message at that place arrives.
    Deliver(usize),
    /// A node hears its channel, at first or again.
    Subscribe(usize),
    Thaw(usize),
    /// Time passes, and every node does its round.
    Tick,
    // Faults.
    /// The script runs; its reply is lost.
    AskUnsubscribed(usize),
    Lose(usize),
    Double(usize),
    /// The connection on which a node hears is dropped.
    Drop(usize),
    Freeze(usize),
    /// A node parks its calls, and their callers go to the other.
    Stop(usize),
    /// Redis notices at once, or goes on counting it.
    Die {
        node: usize,
        counted: bool,
    },
    /// Somebody ends the lease of a call.
    Revoke(usize),
}

impl State {
    pub(crate) fn steps(&self, world: &World) -> Vec<Step> {
        let mut steps = self.due();
        if self.tick <= LAST_EVENT {
            self.calls_do(world, &mut steps);
            if self.faults > 0 {
                self.faults_do(&mut steps);
            }
        }
        // A node that lives does what it has to before time goes on.
        let waits_for = |step: &Step| !matches!(step, Step::Thaw(_));
        let is_unsure = |call| self.is_live(call) && self.calls[call].phase == Phase::Unsure;
        let unsure: Vec<_> = (0..self.calls.len()).filter(|call| is_unsure(*call)).collect();
        if self.tick > LAST_EVENT {
            steps.extend(unsure.iter().copied().map(Step::Ask));
            let lost = (0..self.calls.len()).filter(|call| self.is_lost(*call));
            steps.extend(lost.map(Step::Ask));
        }
        if self.tick < REST && unsure.is_empty() && !self.due().iter().any(waits_for) {
            steps.push(Step::Tick);
        }
        steps
    }

    /// Asked before, and unknown to Redis since.
    fn is_lost(&self, call: usize) -> bool {
        let known = &self.calls[call];
        self.is_live(call) && known.phase == Phase::Idle && known.ends_at.is_some()
    }

    /// Is nothing left that has to come?
    pub(crate) fn is_at_rest(&self) -> bool {
        let is_unsure = |call| self.is_live(call) && self.calls[call].phase == Phase::Unsure;
        let mut calls = 0..self.calls.len();
        self.tick == REST
            && self.due().is_empty()
            && !calls.any(|call| is_unsure(call) || self.is_lost(call))
    }

    fn due(&self) -> Vec<Step> {
        let arrives = |at: &usize| self.is_alive(self.flying[*at].node);
        let mut due: Vec<_> = (0..self.flying.len()).filter(arrives).map(Step::Deliver).collect();
        for (node, known) in self.nodes.iter().enumerate() {
            match known.life {
                Life::Alive if !known.hears && !self.pending(node).is_empty() => {
                    due.push(Step::Subscribe(node));
                }
                Life::Frozen => due.push(Step::Thaw(node)),
                _ => {}
            }
        }
        due
    }

    fn calls_do(&self, world: &World, steps: &mut Vec<Step>) {
        for (call, known) in self.calls.iter().enumerate().filter(|(call, _)| self.is_live(*call)) {
            let before = world.plans[call].after;
            let ready = before.is_none_or(|before| self.calls[before].phase == Phase::Ended);
            match known.phase {
                Phase::Idle | Phase::Unsure if ready => steps.push(Step::Ask(call)),
                Phase::Holds(_) if self.is_alone(world, call) => steps.push(Step::Release(call)),
                _ => {}
            }
            if matches!(known.phase, Phase::Waits | Phase::Unsure) {
                steps.push(Step::Cancel(call));
            }
        }
    }

    fn faults_do(&self, steps: &mut Vec<Step>) {
        for step in steps.clone() {
            match step {
                Step::Ask(call) => steps.push(Step::AskUnsubscribed(call)),
                Step::Deliver(at) => steps.extend([Step::Lose(at), Step::Double(at)]),
                _ => {}
            }
        }
        for (node, known) in self.nodes.iter().enumerate() {
            if known.life != Life::Alive || self.pending(node).is_empty() {
                continue;
            }
            steps.extend([Step::Freeze(node), Step::Stop(node)]);
            steps.push(Step::Die { node, counted: false });
            if known.hears {
                steps.extend([Step::Drop(node), Step::Die { node, counted: true }]);
            }
        }
        for (call, known) in self.calls.iter().enumerate() {
            if matches!(known.phase, Phase::Waits | Phase::Holds(_)) {
                steps.push(Step::Revoke(call));
            }
        }
    }

    /// Who releases what another call of its lease is about to hear of, confuses itself.
    fn is_alone(&self, world: &World, call: usize) -> bool {
        let pending = [0, 1].map(|node| self.pending(node)).concat();
        !pending.iter().any(|other| world.plans[*other].lease == world.plans[call].lease)
    }

    pub(crate) fn take(&mut self, world: &World, step: Step) {
        match step {
            Step::Ask(call) => self.ask(world, call, true),
            Step::Release(call) => {
                // Refused where the lease has been ended meanwhile.
                let _ = self.redis.release(NS, SEM, world.plans[call].lease);
                self.publish();
                self.ended(world, call);
            }
            Step::Cancel(call) => {
                let cancelled = self.redis.cancel(NS, self.asked(world, call));
                cancelled.expect("always done");
                self.publish();
                self.calls[call].phase = Phase::Ended;
            }
            Step::Deliver(at) => {
                let message = self.flying.remove(at);
                self.receive(world, message);
            }
            Step::Subscribe(node) => {
                self.redis.around.listening.insert(NODES[node]);
                self.nodes[node].hears = true;
                self.resume(world, node);
            }
            Step::Thaw(node) => {
                self.nodes[node].life = Life::Alive;
                // Its timers have run out meanwhile.
                self.round(world, node);
            }
            Step::Tick => self.pass(world),
            fault => {
                self.faults -= 1;
                self.fail(world, fault);
            }
        }
    }

    /// Every call that was answered by this hold has no more of it.
    fn ended(&mut self, world: &World, call: usize) {
        for (other, plan) in world.plans.iter().enumerate() {
            let holds = matches!(self.calls[other].phase, Phase::Holds(_));
            if plan.lease == world.plans[call].lease && holds {
                self.calls[other].phase = Phase::Ended;
            }
        }
    }

    fn pass(&mut self, world: &World) {
        self.tick += 1;
        self.redis.around.now += TICK;
        for (node, name) in NODES.into_iter().enumerate() {
            if self.is_alive(node) {
                self.round(world, node);
            } else if !world.has(Mechanism::SetAside) {
                // Its mark never ends.
                self.redis.sweep(NS, name).expect("always answered");
                self.publish();
            }
        }
    }

    fn fail(&mut self, world: &World, fault: Step) {
        match fault {
            Step::AskUnsubscribed(call) => self.ask(world, call, false),
            Step::Lose(at) => drop(self.flying.remove(at)),
            Step::Double(at) => self.flying.push(self.flying[at]),
            Step::Drop(node) => self.unsubscribe(node),
            Step::Freeze(node) => self.nodes[node].life = Life::Frozen,
            Step::Stop(node) => self.stop(world, node),
            Step::Die { node, counted } => {
                self.nodes[node] = crate::state::Node { life: Life::Dead, hears: counted };
                if !counted && world.has(Mechanism::SetAside) {
                    self.unsubscribe(node);
                }
            }
            Step::Revoke(call) => {
                let revoked = self.redis.revoke_lease(NS, world.plans[call].lease);
                self.publish();
                if revoked.is_ok() {
                    self.ended(world, call);
                }
            }
            other => unreachable!("{other:?} is no fault"),
        }
        self.flying.sort();
    }

    fn unsubscribe(&mut self, node: usize) {
        self.redis.around.listening.remove(NODES[node]);
        self.nodes[node].hears = false;
        self.flying.retain(|message| message.node != node);
    }

    fn stop(&mut self, world: &World, node: usize) {
        let calls = self.pending(node);
        let keep = |call: &usize| (self.asked(world, *call), 100 * TICK);
        let asked: Vec<_> = calls.iter().map(keep).collect();
        let Ok(Answer::Park(fates)) = self.redis.park(NS, false, &asked) else {
            unreachable!("always answered");
        };
        self.publish();
        self.meet(&calls, fates);
        self.unsubscribe(node);
        self.nodes[node].life = Life::Stopped;
        for call in self.calls.iter_mut().filter(|call| call.node == node) {
            call.node = 1 - node;
            call.moves += u32::from(!matches!(call.phase, Phase::Holds(_) | Phase::Ended));
            if matches!(call.phase, Phase::Waits | Phase::Unsure) {
                call.phase = Phase::Idle;
            }
        }
    }
}
