//! The steps that are played on both.

use std::fmt::{Debug, Formatter, Result};

use crate::spec::{
    AcquireArguments, Answer, From, Label, Micros, Model, Name, Queue, Ticket, WaitingCall,
};
use crate::stage::{text, texts};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    CreateNamespace {
        request: Name,
        ns: Name,
        label: Label,
    },
    GetNamespace {
        ns: Name,
    },
    UpdateNamespace {
        request: Name,
        ns: Name,
        expected: i64,
        label: Label,
    },
    DeleteNamespace {
        ns: Name,
    },
    ListNamespaces {
        from: From,
        limit: usize,
    },
    CreateSemaphore {
        request: Name,
        ns: Name,
        name: Name,
        permits: i64,
        queue: Queue,
        label: Label,
    },
    GetSemaphore {
        ns: Name,
        name: Name,
    },
    UpdateSemaphore {
        request: Name,
        ns: Name,
        name: Name,
        expected: i64,
        permits: i64,
        queue: Queue,
        label: Label,
    },
    DeleteSemaphore {
        ns: Name,
        name: Name,
    },
    ListSemaphores {
        ns: Name,
        from: From,
        limit: usize,
    },
    ListHolders {
        ns: Name,
        name: Name,
        from: From,
        limit: usize,
    },
    ListWaiters {
        ns: Name,
        name: Name,
        from: From,
        limit: usize,
    },
    GetWaiter {
        ns: Name,
        name: Name,
        lease: Name,
    },
    Acquire {
        ns: Name,
        wanted: AcquireArguments,
    },
    Resume {
        ns: Name,
        calls: Vec<WaitingCall>,
    },
    TimeOut {
        ns: Name,
        call: WaitingCall,
    },
    Cancel {
        ns: Name,
        call: WaitingCall,
    },
    SetAside {
        ns: Name,
        undo: bool,
        calls: Vec<(WaitingCall, Micros)>,
    },
    Release {
        ns: Name,
        name: Name,
        lease: Name,
    },
    Down {
        ns: Name,
        name: Name,
        ticket: Ticket,
        received: Vec<Ticket>,
    },
    Up {
        ns: Name,
        name: Name,
        ticket: Ticket,
        undoes: Option<Ticket>,
        received: Vec<Ticket>,
    },
    Disown {
        ns: Name,
        name: Name,
        lease: Name,
        received: Vec<Ticket>,
    },
    RefreshProxyLeases {
        ns: Name,
        ttl: Micros,
        leases: Vec<Name>,
    },
    Sweep {
        ns: Name,
        node: Name,
    },
    CreateLease {
        ns: Name,
        lease: Name,
        process: Name,
        ttl: Micros,
        label: Label,
    },
    GetLease {
        ns: Name,
        lease: Name,
    },
    RefreshLease {
        ns: Name,
        lease: Name,
        ttl: Micros,
    },
    RevokeLease {
        ns: Name,
        lease: Name,
    },
    ListLeases {
        ns: Name,
        process: Name,
        from: From,
        limit: usize,
    },
    /// The node is no longer subscribed; only marks and counts tell of its calls.
    Dies {
        node: Name,
    },
    Returns {
        node: Name,
    },
    /// The clock moves on, or back.
    Passes {
        time: Micros,
    },
}

/// The weight and the share that a call is said to have asked for when it gives up; it matters where its wait is
/// gone by then.
pub(crate) const EXPLAINED: (i64, i64) = (3, 2);

/// A step, shown in one line.
#[derive(Clone)]
pub(crate) struct Step(pub(crate) Op);

impl Debug for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "Op::{:?}", self.0)
    }
}

impl Op {
    /// The namespace that it is about, where it is about one.
    pub(crate) fn namespace(&self) -> Option<Name> {
        match self {
            Self::ListNamespaces { .. }
            | Self::Dies { .. }
            | Self::Returns { .. }
            | Self::Passes { .. } => None,
            Self::CreateNamespace { ns, .. }
            | Self::GetNamespace { ns }
            | Self::UpdateNamespace { ns, .. }
            | Self::DeleteNamespace { ns }
            | Self::CreateSemaphore { ns, .. }
            | Self::GetSemaphore { ns, .. }
            | Self::UpdateSemaphore { ns, .. }
            | Self::DeleteSemaphore { ns, .. }
            | Self::ListSemaphores { ns, .. }
            | Self::ListHolders { ns, .. }
            | Self::ListWaiters { ns, .. }
            | Self::GetWaiter { ns, .. }
            | Self::Acquire { ns, .. }
            | Self::Resume { ns, .. }
            | Self::TimeOut { ns, .. }
            | Self::Cancel { ns, .. }
            | Self::SetAside { ns, .. }
            | Self::Release { ns, .. }
            | Self::Down { ns, .. }
            | Self::Up { ns, .. }
            | Self::Disown { ns, .. }
            | Self::RefreshProxyLeases { ns, .. }
            | Self::Sweep { ns, .. }
            | Self::CreateLease { ns, .. }
            | Self::GetLease { ns, .. }
            | Self::RefreshLease { ns, .. }
            | Self::RevokeLease { ns, .. }
            | Self::ListLeases { ns, .. } => Some(ns),
        }
    }

    /// Plays it on the model.
    pub(crate) fn play(&self, model: &mut Model) -> Answer {
        let reply = match self.clone() {
            Self::CreateNamespace { request, ns, label } => {
                model.create_namespace(request, ns, label)
            }
            Self::GetNamespace { ns } => model.get_namespace(ns),
            Self::UpdateNamespace { request, ns, expected, label } => {
                model.update_namespace(request, ns, expected, label)
            }
            Self::DeleteNamespace { ns } => model.delete_namespace(ns),
            Self::ListNamespaces { from, limit } => model.list_namespaces(&from, limit),
            Self::CreateSemaphore { request, ns, name, permits, queue, label } => {
                model.create_semaphore(request, ns, name, permits, queue, label)
            }
            Self::GetSemaphore { ns, name } => model.get_semaphore(ns, name),
            Self::UpdateSemaphore { request, ns, name, expected, permits, queue, label } => {
                model.update_semaphore(request, ns, name, expected, permits, queue, label)
            }
            Self::DeleteSemaphore { ns, name } => model.delete_semaphore(ns, name),
            Self::ListSemaphores { ns, from, limit } => model.list_semaphores(ns, &from, limit),
            Self::ListHolders { ns, name, from, limit } => {
                model.list_holders(ns, name, &from, limit)
            }
            Self::ListWaiters { ns, name, from, limit } => {
                model.list_waiters(ns, name, &from, limit)
            }
            Self::GetWaiter { ns, name, lease } => model.get_waiter(ns, name, lease),
            Self::Acquire { ns, wanted } => model.acquire(ns, wanted),
            Self::Resume { ns, calls } => model.resume(ns, &calls),
            Self::TimeOut { ns, call } => model.time_out(ns, call, EXPLAINED),
            Self::Cancel { ns, call } => model.cancel(ns, call),
            Self::SetAside { ns, undo, calls } => model.park(ns, undo, &calls),
            Self::Release { ns, name, lease } => model.release(ns, name, lease),
            Self::Down { ns, name, ticket, received } => {
                model.down(ns, name, &text(ticket), &texts(&received))
            }
            Self::Up { ns, name, ticket, undoes, received } => {
                let undoes = undoes.map(text);
                model.up(ns, name, &text(ticket), undoes.as_deref(), &texts(&received))
            }
            Self::Disown { ns, name, lease, received } => {
                model.disown(ns, name, lease, &texts(&received))
            }
            Self::RefreshProxyLeases { ns, ttl, leases } => {
                model.refresh_proxy_leases(ns, ttl, &leases)
            }
            Self::Sweep { ns, node } => model.sweep(ns, node),
            Self::CreateLease { ns, lease, process, ttl, label } => {
                model.create_lease(ns, lease, process, ttl, label)
            }
            Self::GetLease { ns, lease } => model.get_lease(ns, lease),
            Self::RefreshLease { ns, lease, ttl } => model.refresh_lease(ns, lease, ttl),
            Self::RevokeLease { ns, lease } => model.revoke_lease(ns, lease),
            Self::ListLeases { ns, process, from, limit } => {
                model.list_leases(ns, process, &from, limit)
            }
            Self::Dies { node } => {
                model.around.listening.remove(node);
                Ok(Answer::Done)
            }
            Self::Returns { node } => {
                model.around.listening.insert(node);
                Ok(Answer::Done)
            }
            Self::Passes { time } => {
                model.around.now += time;
                Ok(Answer::Done)
            }
        };
        reply.unwrap_or_else(Answer::Refused)
    }
}
