//! Small worlds, and what may be done there next.

use grackle_client::wire::QueueDiscipline as Discipline;
use proptest::prelude::*;
use proptest::sample::select;

use crate::machine::Played;
use crate::op::Op;
use crate::spec::{
    AcquireArguments, From, Limits, MAX_PERMITS, Micros, Model, Name, Queue, Tag, Ticket,
    WaitingCall,
};
use grackle_test_support::script_world::NS;

macro_rules! lease_id {
    ($letter:literal) => {
        concat!("ls_", $letter, "000000000000000000000000000")
    };
}

pub(crate) const NAMESPACES: [Name; 2] = [NS, "other"];
pub(crate) const NODES: [Name; 3] = ["k", "m", "n"];
/// Redis and Lua like to write such a number as 1.8e+15.
pub(crate) const START: Micros = 1_800_000_000_000_000;
const SEMAPHORES: [Name; 3] = ["s", "t", "a-Z_9"];
/// Two of them stand in for downs.
pub(crate) const LEASES: [Name; 6] = [
    lease_id!("a"),
    lease_id!("b"),
    lease_id!("c"),
    "proxy_d000000000000000000000000000",
    lease_id!("e"),
    "proxy_f000000000000000000000000000",
];
const PROCESSES: [Name; 2] = ["host-1/pid-2", "\"ü\" {x}:y"];
const REQUESTS: [Name; 8] = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"];
const SECOND: Micros = 1_000_000;
const HOUR: Micros = 3_600 * SECOND;

const MANY: Limits =
    Limits { semaphores: 99, leases: 99, holders: 99, waiters: 99, holds_per_lease: 99 };
const FEW: Limits = Limits { semaphores: 2, leases: 5, holders: 2, waiters: 2, holds_per_lease: 2 };

/// Both namespaces with two semaphores and four leases each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    pub(crate) limits: Limits,
    pub(crate) permits: i64,
    pub(crate) queue: Queue,
}

impl Begin {
    /// With limits that are never reached.
    pub(crate) fn with(permits: i64) -> Self {
        Self { limits: MANY, permits, queue: Queue::default() }
    }

    pub(crate) fn model(self) -> Model {
        Model::new(START, &NODES, self.limits)
    }

    pub(crate) fn ops(self) -> Vec<Op> {
        let Self { permits, queue, .. } = self;
        let (request, label, ttl) = ("begin", 0, HOUR);
        let of = |ns| {
            let made = |name| Op::CreateSemaphore { request, ns, name, permits, queue, label };
            let lease = |(number, lease): (usize, &Name)| {
                let process = PROCESSES[number % 2];
                Op::CreateLease { ns, lease, process, ttl, label }
            };
            let namespace = [Op::CreateNamespace { request, ns, label }];
            namespace
                .into_iter()
                .chain(["s", "t"].map(made))
                .chain(LEASES[..4].iter().enumerate().map(lease))
        };
        NAMESPACES.into_iter().flat_map(of).collect()
    }
}

pub(crate) fn begin() -> BoxedStrategy<Played> {
    let permits = prop_oneof![6 => 1..=5_i64, 1 => Just(MAX_PERMITS)];
    (prop_oneof![4 => Just(MANY), 1 => Just(FEW)], permits, queue())
        .prop_map(|(limits, permits, queue)| Played::new(Begin { limits, permits, queue }))
        .boxed()
}

pub(crate) fn next(state: &Played) -> BoxedStrategy<Op> {
    let (fresh, again, pair) = (fresh(state), call(state), pair(state));
    let edges = edges(state);
    let pages = move || (edge(&edges), prop_oneof![1..4_usize, Just(100)]).boxed();
    prop_oneof![
        24 => acquire(state, fresh),
        6 => acquire(state, again.clone()),
        6 => (ns(), semaphore(), lease())
            .prop_map(|(ns, name, lease)| Op::Release { ns, name, lease }),
        6 => again.clone().prop_map(|(ns, call)| Op::Cancel { ns, call }),
        4 => again.prop_map(|(ns, call)| Op::TimeOut { ns, call }),
        4 => (pair.clone(), any::<bool>(), keep(), keep()).prop_map(|((ns, calls), undo, one, two)| {
            Op::SetAside { ns, undo, calls: calls.into_iter().zip([one, two]).collect() }
        }),
        4 => pair.prop_map(|(ns, calls)| Op::Resume { ns, calls }),
        3 => (ns(), node()).prop_map(|(ns, node)| Op::Sweep { ns, node }),
        12 => without_an_owner(),
        8 => time(state).prop_map(|time| Op::Passes { time }),
        2 => node().prop_map(|node| Op::Dies { node }),
        4 => node().prop_map(|node| Op::Returns { node }),
        10 => about_leases(pages()),
        11 => about_semaphores(state, pages()),
        2 => about_namespaces(state, pages()),
    ]
    .boxed()
}

type Calls = BoxedStrategy<(Name, WaitingCall)>;
type Pages = BoxedStrategy<(From, usize)>;

fn about_namespaces(state: &Played, pages: Pages) -> BoxedStrategy<Op> {
    let versions = state.model.namespaces.values().map(|namespace| namespace.version);
    prop_oneof![
        4 => (request(), ns(), 0..3_u8)
            .prop_map(|(request, ns, label)| Op::CreateNamespace { request, ns, label }),
        2 => ns().prop_map(|ns| Op::GetNamespace { ns }),
        3 => (request(), ns(), version(versions.collect()), 0..3_u8).prop_map(
            |(request, ns, expected, label)| Op::UpdateNamespace { request, ns, expected, label }
        ),
        1 => ns().prop_map(|ns| Op::DeleteNamespace { ns }),
        2 => pages.prop_map(|(from, limit)| Op::ListNamespaces { from, limit }),
    ]
    .boxed()
}

fn about_semaphores(state: &Played, pages: Pages) -> BoxedStrategy<Op> {
    let all = state.model.namespaces.values().flat_map(|namespace| namespace.semaphores.values());
    let versions = all.map(|semaphore| semaphore.version).collect();
    let made = (request(), ns(), semaphore(), permits(), queue(), 0..3_u8);
    let updated = (request(), ns(), semaphore(), version(versions), permits(), queue(), 0..3_u8);
    let pages_of_waiters = pages.clone();
    prop_oneof![
        3 => (ns(), semaphore(), pages_of_waiters).prop_map(|(ns, name, (from, limit))| {
            Op::ListWaiters { ns, name, from, limit }
        }),
        3 => (ns(), semaphore(), lease())
            .prop_map(|(ns, name, lease)| Op::GetWaiter { ns, name, lease }),
        4 => made.prop_map(|(request, ns, name, permits, queue, label)| {
            Op::CreateSemaphore { request, ns, name, permits, queue, label }
        }),
        2 => (ns(), semaphore()).prop_map(|(ns, name)| Op::GetSemaphore { ns, name }),
        8 => updated.prop_map(|(request, ns, name, expected, permits, queue, label)| {
            Op::UpdateSemaphore { request, ns, name, expected, permits, queue, label }
        }),
        1 => (ns(), semaphore()).prop_map(|(ns, name)| Op::DeleteSemaphore { ns, name }),
        1 => (ns(), pages.clone())
            .prop_map(|(ns, (from, limit))| Op::ListSemaphores { ns, from, limit }),
        2 => (ns(), semaphore(), pages).prop_map(|(ns, name, (from, limit))| {
            Op::ListHolders { ns, name, from, limit }
        }),
    ]
    .boxed()
}

fn about_leases(pages: Pages) -> BoxedStrategy<Op> {
    let process = || select(PROCESSES.as_slice());
    prop_oneof![
        8 => (ns(), lease(), process(), ttl(), 0..3_u8).prop_map(|(ns, lease, process, ttl, label)| {
            Op::CreateLease { ns, lease, process, ttl, label }
        }),
        1 => (ns(), lease()).prop_map(|(ns, lease)| Op::GetLease { ns, lease }),
        3 => (ns(), lease(), ttl()).prop_map(|(ns, lease, ttl)| Op::RefreshLease { ns, lease, ttl }),
        3 => (ns(), lease()).prop_map(|(ns, lease)| Op::RevokeLease { ns, lease }),
        1 => (ns(), prop_oneof![Just(""), process()], pages).prop_map(
            |(ns, process, (from, limit))| Op::ListLeases { ns, process, from, limit }
        ),
    ]
    .boxed()
}

/// Of few tickets, so that calls are made again.
fn without_an_owner() -> BoxedStrategy<Op> {
    let ticket = || (node(), 0..12_u32).prop_map(|(node, number)| Ticket { node, number });
    let received = || proptest::collection::vec(ticket(), 0..2);
    let leases = proptest::collection::vec(lease(), 0..4);
    prop_oneof![
        6 => (ns(), semaphore(), ticket(), received())
            .prop_map(|(ns, name, ticket, received)| Op::Down { ns, name, ticket, received }),
        4 => (ns(), semaphore(), ticket(), received()).prop_map(|(ns, name, ticket, received)| {
            Op::Up { ns, name, ticket, undoes: None, received }
        }),
        2 => (ns(), semaphore(), ticket(), ticket()).prop_map(|(ns, name, ticket, undoes)| {
            Op::Up { ns, name, ticket, undoes: Some(undoes), received: Vec::new() }
        }),
        2 => (ns(), semaphore(), lease(), received())
            .prop_map(|(ns, name, lease, received)| Op::Disown { ns, name, lease, received }),
        1 => (ns(), ttl(), leases)
            .prop_map(|(ns, ttl, leases)| Op::RefreshProxyLeases { ns, ttl, leases }),
    ]
    .boxed()
}

fn acquire(state: &Played, calls: Calls) -> BoxedStrategy<Op> {
    let listening = prop_oneof![4 => Just(true), 1 => Just(false)];
    (calls, weight(state), share(), 0..3_u8, timeout(), listening)
        .prop_map(|((ns, call), weight, share, label, timeout, listening)| {
            let WaitingCall { lease, semaphore, ticket } = call;
            let wanted = AcquireArguments {
                semaphore,
                lease,
                ticket,
                weight,
                share,
                label,
                timeout,
                listening,
            };
            Op::Acquire { ns, wanted }
        })
        .boxed()
}

/// A call that there was not before.
fn fresh(state: &Played) -> Calls {
    let number = state.calls.len() as u32;
    (ns(), semaphore(), lease(), node())
        .prop_map(move |(ns, semaphore, lease, node)| {
            (ns, WaitingCall { lease, semaphore, ticket: Ticket { node, number } })
        })
        .boxed()
}

/// Mostly one of the latest.
fn latest(state: &Played) -> Vec<(Name, WaitingCall)> {
    state.calls[state.calls.len().saturating_sub(10)..].to_vec()
}

fn call(state: &Played) -> Calls {
    let latest = latest(state);
    if latest.is_empty() { fresh(state) } else { select(latest).boxed() }
}

/// Two calls, of one namespace.
fn pair(state: &Played) -> BoxedStrategy<(Name, Vec<WaitingCall>)> {
    let latest = latest(state);
    call(state)
        .prop_flat_map(move |(ns, one)| {
            let here = latest.iter().filter(|(other, _)| *other == ns).map(|(_, call)| *call);
            let here: Vec<_> = here.chain([one]).collect();
            let more = proptest::collection::vec(select(here), 0..2);
            more.prop_map(move |more| (ns, [vec![one], more].concat()))
        })
        .boxed()
}

fn ns() -> BoxedStrategy<Name> {
    prop_oneof![7 => Just(NAMESPACES[0]), 1 => Just(NAMESPACES[1])].boxed()
}

fn semaphore() -> BoxedStrategy<Name> {
    prop_oneof![8 => Just(SEMAPHORES[0]), 2 => Just(SEMAPHORES[1]), 1 => Just(SEMAPHORES[2])]
        .boxed()
}

fn lease() -> BoxedStrategy<Name> {
    select(LEASES.as_slice()).boxed()
}

fn node() -> BoxedStrategy<Name> {
    select(NODES.as_slice()).boxed()
}

fn request() -> BoxedStrategy<Name> {
    select(REQUESTS.as_slice()).boxed()
}

/// Mostly one that there is.
fn version(mut known: Vec<i64>) -> BoxedStrategy<i64> {
    known.push(1);
    prop_oneof![4 => select(known), 1 => 1..4_i64].boxed()
}

fn permits() -> BoxedStrategy<i64> {
    prop_oneof![8 => 1..=6_i64, 1 => Just(MAX_PERMITS), 1 => Just(MAX_PERMITS - 2)].boxed()
}

/// Huge ones mostly where there are as many permits.
fn weight(state: &Played) -> BoxedStrategy<i64> {
    const HUGE: [i64; 4] = [MAX_PERMITS, MAX_PERMITS - 1, MAX_PERMITS / 2 + 1, 100_000_000_000_001];
    let often = if state.begin.permits == MAX_PERMITS { 14 } else { 1 };
    prop_oneof![14 => 1..=5_i64, often => select(HUGE.as_slice())].boxed()
}

fn queue() -> BoxedStrategy<Queue> {
    let discipline = prop_oneof![
        3 => Just(Discipline::Unspecified),
        1 => Just(Discipline::Fifo),
        1 => Just(Discipline::Lifo),
        2 => Just(Discipline::Weighted),
    ];
    let max_waiters = prop_oneof![5 => Just(None), 1 => (0..4_i64).prop_map(Some)];
    (discipline, max_waiters)
        .prop_map(|(discipline, max_waiters)| Queue { discipline, max_waiters })
        .boxed()
}

fn share() -> BoxedStrategy<i64> {
    prop_oneof![4 => Just(1), 3 => 2..=7_i64, 1 => Just(1_000)].boxed()
}

fn timeout() -> BoxedStrategy<Micros> {
    prop_oneof![2 => Just(0), 6 => Just(HOUR), 4 => lifetime()].boxed()
}

fn keep() -> BoxedStrategy<Micros> {
    prop_oneof![3 => lifetime(), 1 => Just(0), 1 => Just(24 * HOUR)].boxed()
}

fn ttl() -> BoxedStrategy<Micros> {
    prop_oneof![3 => lifetime(), 4 => Just(HOUR), 1 => Just(24 * HOUR)].boxed()
}

fn lifetime() -> BoxedStrategy<Micros> {
    select([SECOND, 5 * SECOND, 14_999_999, 15 * SECOND, 16 * SECOND, 60 * SECOND].as_slice())
        .boxed()
}

/// A little, past whatever was set to a time, just to what is due next, or back.
fn time(state: &Played) -> BoxedStrategy<Micros> {
    let now = state.model.around.now;
    let due = state.model.namespaces.values().map(|namespace| namespace.sweep_in(now));
    let mut due: Vec<_> = due.filter(|due| *due > 0).collect();
    due.push(1);
    prop_oneof![
        2 => 1..SECOND,
        4 => lifetime(),
        1 => Just(HOUR),
        5 => (select(due), -1..=1_i64).prop_map(|(due, around)| due + around),
        2 => -20 * SECOND..0,
    ]
    .boxed()
}

/// Where pages may begin: at entries that there are.
fn edges(state: &Played) -> Vec<(Tag, String)> {
    let time = |time: Micros| Tag(time as f64);
    let mut edges =
        vec![(time(0), "s".to_owned()), (time(0), NS.to_owned()), (time(START), "bb".to_owned())];
    for namespace in state.model.namespaces.values() {
        for (id, lease) in &namespace.leases {
            edges.push((time(lease.created_at), (*id).to_owned()));
        }
        for semaphore in namespace.semaphores.values() {
            edges.push((time(0), semaphore.name.to_owned()));
            for (lease, hold) in &semaphore.holds {
                edges.push((time(hold.top().locked_at), (*lease).to_owned()));
            }
            for (lease, wait) in &semaphore.waits {
                edges.push((semaphore.score(lease, wait), (*lease).to_owned()));
            }
        }
    }
    edges
}

fn edge(edges: &[(Tag, String)]) -> BoxedStrategy<From> {
    let some = || select(edges.to_vec());
    prop_oneof![
        2 => Just(From::Start),
        1 => some().prop_map(|(score, name)| From::After(score, name)),
        1 => some().prop_map(|(score, name)| From::Before(score, name)),
    ]
    .boxed()
}
