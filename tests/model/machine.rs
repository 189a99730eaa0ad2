//! Both, side by side.

use std::fmt::{Debug, Formatter, Result};

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use tokio::runtime::{Builder, Runtime};

use crate::keys::Keys;
use crate::op::{Op, Step};
use crate::plan::{self, Begin, NAMESPACES};
use crate::promises;
use crate::spec::{Answer, Model, Name, Namespace, Said, WaitingCall};
use crate::stage::Stage;
use crate::subscriptions::Received;

/// The model, and what the last step came to there.
#[derive(Clone)]
pub(crate) struct Played {
    pub(crate) model: Model,
    pub(crate) begin: Begin,
    answer: Answer,
    received: Received,
    broken: Option<String>,
    /// The namespace of the last step.
    last: Option<Name>,
    /// The calls that there were, and in which namespace.
    pub(crate) calls: Vec<(Name, WaitingCall)>,
}

impl Debug for Played {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.begin.fmt(f)
    }
}

impl Played {
    pub(crate) fn new(begin: Begin) -> Self {
        let (answer, received, calls) = (Answer::Done, Vec::new(), Vec::new());
        let played =
            Self { model: begin.model(), begin, answer, received, broken: None, last: None, calls };
        begin.ops().iter().fold(played, Self::step)
    }

    fn ends(&self) -> Vec<Op> {
        let of = |(ns, namespace): (&Name, &Namespace)| {
            let ns = *ns;
            let revoke = |lease: &Name| Op::RevokeLease { ns, lease };
            let leases: Vec<_> = namespace.leases.keys().map(revoke).collect();
            leases.into_iter().chain([Op::DeleteNamespace { ns }])
        };
        self.model.namespaces.iter().flat_map(of).collect()
    }

    fn step(mut self, op: &Op) -> Self {
        if let Op::Acquire { ns, wanted } = op {
            let call = WaitingCall {
                lease: wanted.lease,
                semaphore: wanted.semaphore,
                ticket: wanted.ticket,
            };
            self.calls.retain(|known| *known != (*ns, call));
            self.calls.push((*ns, call));
        }
        let before = self.model.clone();
        self.answer = op.play(&mut self.model);
        self.last = op.namespace();
        self.broken = promises::broken(&before, op, &self.model);
        // All that is said at a step is said in the namespace of the step.
        let said = self.model.said().into_iter().filter(|said| match said {
            Said::Ended { node, .. } => self.model.around.listening.contains(node),
            Said::Sooner { .. } => true,
        });
        self.received = said.map(|said| (op.namespace().expect("one"), said)).collect();
        self
    }
}

impl ReferenceStateMachine for Played {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        plan::begin()
    }

    fn transitions(state: &Self) -> BoxedStrategy<Step> {
        plan::next(state).prop_map(Step).boxed()
    }

    fn apply(state: Self, Step(op): &Step) -> Self {
        state.step(op)
    }
}

/// The real thing, on a runtime of its own.
pub(crate) struct Machine {
    runtime: Runtime,
    stage: Stage,
}

impl StateMachineTest for Machine {
    type SystemUnderTest = Self;
    type Reference = Played;

    fn init_test(begin: &Played) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut stage = runtime.block_on(Stage::new(begin.begin.limits, plan::START));
        for op in begin.begin.ops() {
            runtime.block_on(stage.play(&op));
        }
        Self { runtime, stage }
    }

    fn apply(mut machine: Self, right: &Played, Step(op): Step) -> Self {
        let Self { runtime, stage } = &mut machine;
        assert_eq!(right.broken, None, "the model breaks a promise with {op:?}");
        let (answer, received) = runtime.block_on(stage.play(&op));
        assert_eq!(answer, right.answer, "the scripts reply the left, the model the right: {op:?}");
        let (received, expected) = (in_order(received), in_order(right.received.clone()));
        assert_eq!(received, expected, "the scripts say the left, the model the right: {op:?}");
        machine
    }

    fn check_invariants(machine: &Self, right: &Played) {
        // What a step is not about it does not touch; the end looks at all.
        if let Some(ns) = right.last {
            machine.check(ns, &right.model);
        }
    }

    /// Every lease ends, then every namespace; no key is left.
    fn teardown(mut machine: Self, mut right: Played) {
        NAMESPACES.into_iter().for_each(|ns| machine.check(ns, &right.model));
        for op in right.ends() {
            right = right.step(&op);
            machine = Self::apply(machine, &right, Step(op));
            Self::check_invariants(&machine, &right);
        }
        machine.runtime.block_on(machine.stage.end());
    }
}

impl Machine {
    fn check(&self, ns: Name, model: &Model) {
        let keys = self.runtime.block_on(self.stage.keys(ns));
        let differ = keys.differ(&Keys::expected(ns, model.namespaces.get(ns)));
        assert!(differ.is_empty(), "in {ns}, is and should be:\n{}", differ.join("\n"));
    }
}

/// What was said at one step, node by node; which of them is told first does not matter.
fn in_order(mut received: Received) -> Received {
    received.sort_by_key(|(ns, said)| match said {
        Said::Ended { node, tickets, .. } => (*ns, Some((*node, tickets.clone()))),
        Said::Sooner { .. } => (*ns, None),
    });
    received
}
