use std::collections::{BTreeMap, BTreeSet};

use grackle_client::wire::SemaphoreWaiterResponse;

use super::{
    AcquireArguments, Answer, Around, Call, Fate, From, Label, Lease, Limits, Micros, Name,
    Namespace, Outcome, Page, Queue, Refused, Said, Semaphore, Tag, Ticket, Wait, refused,
};

/// A call, as its node asks about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WaitingCall {
    pub(crate) lease: Name,
    pub(crate) semaphore: Name,
    pub(crate) ticket: Ticket,
}

/// All of Grackle. Each operation is one step, and each step is all that happens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Model {
    pub(crate) namespaces: BTreeMap<Name, Namespace>,
    pub(crate) around: Around,
}

type Reply = Result<Answer, Refused>;

impl Model {
    pub(crate) fn new(now: Micros, nodes: &[Name], limits: Limits) -> Self {
        let listening: BTreeSet<_> = nodes.iter().copied().collect();
        let around = Around { now, listening, limits, asking: BTreeSet::new(), said: Vec::new() };
        Self { namespaces: BTreeMap::new(), around }
    }

    /// What was said since the last time.
    pub(crate) fn said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.around.said)
    }

    fn within(&mut self, ns: Name) -> Result<(&mut Namespace, &mut Around), Refused> {
        let namespace = self.namespaces.get_mut(ns).ok_or(refused::NO_NAMESPACE)?;
        Ok((namespace, &mut self.around))
    }

    /// As `within`, with what is due done before.
    fn swept(&mut self, ns: Name) -> Result<(&mut Namespace, &mut Around), Refused> {
        let (namespace, around) = self.within(ns)?;
        namespace.sweep(around);
        Ok((namespace, around))
    }

    // Namespaces.

    pub(crate) fn create_namespace(&mut self, request: Name, ns: Name, label: Label) -> Reply {
        let now = self.around.now;
        let made = || Namespace::new(request, label, now);
        let namespace = self.namespaces.entry(ns).or_insert_with(made);
        if namespace.request != request {
            return Err(refused::NAMESPACE_EXISTS);
        }
        Ok(Answer::Namespace(namespace.shown(ns)))
    }

    pub(crate) fn get_namespace(&mut self, ns: Name) -> Reply {
        Ok(Answer::Namespace(self.within(ns)?.0.shown(ns)))
    }

    pub(crate) fn update_namespace(
        &mut self,
        request: Name,
        ns: Name,
        expected: i64,
        label: Label,
    ) -> Reply {
        let (namespace, around) = self.within(ns)?;
        if namespace.request != request {
            if namespace.version != expected {
                return Err(refused::VERSION);
            }
            (namespace.request, namespace.label) = (request, label);
            (namespace.version, namespace.updated_at) = (expected + 1, around.now);
        }
        Ok(Answer::Namespace(namespace.shown(ns)))
    }

    pub(crate) fn delete_namespace(&mut self, ns: Name) -> Reply {
        for mut semaphore in self.namespaces.remove(ns).into_iter().flat_map(|ns| ns.semaphores) {
            for lease in semaphore.1.waits.clone().into_keys() {
                semaphore.1.end_wait(lease, refused::NO_NAMESPACE, &mut self.around);
            }
        }
        Ok(Answer::Done)
    }

    pub(crate) fn list_namespaces(&mut self, from: &From, limit: usize) -> Reply {
        let all = self.namespaces.iter();
        let all = all.map(|(ns, namespace)| (Tag(0.0), (*ns).to_owned(), namespace.shown(ns)));
        Ok(Answer::Namespaces(Page::of(all.collect(), from, limit)))
    }

    // Semaphores.

    pub(crate) fn create_semaphore(
        &mut self,
        request: Name,
        ns: Name,
        name: Name,
        permits: i64,
        queue: Queue,
        label: Label,
    ) -> Reply {
        let (namespace, around) = self.within(ns)?;
        if let Some(semaphore) = namespace.semaphores.get(name) {
            let same = semaphore.request == request;
            return same.then(|| semaphore.answer()).ok_or(refused::SEMAPHORE_EXISTS);
        }
        if namespace.semaphores.len() >= around.limits.semaphores {
            return Err(refused::MAX_SEMAPHORES);
        }
        let mut semaphore = Semaphore::new(request, name, label, permits, around.now);
        semaphore.set(queue);
        Ok(namespace.semaphores.entry(name).or_insert(semaphore).answer())
    }

    pub(crate) fn get_semaphore(&mut self, ns: Name, name: Name) -> Reply {
        Ok(self.swept(ns)?.0.semaphore(name)?.answer())
    }

    #[expect(clippy::too_many_arguments, reason = "one for each of the operation's")]
    pub(crate) fn update_semaphore(
        &mut self,
        request: Name,
        ns: Name,
        name: Name,
        expected: i64,
        permits: i64,
        queue: Queue,
        label: Label,
    ) -> Reply {
        let (namespace, around) = self.swept(ns)?;
        let semaphore = namespace.semaphore(name)?;
        if semaphore.request != request {
            if semaphore.version != expected {
                return Err(refused::VERSION);
            } else if permits < semaphore.held() {
                return Err(refused::HELD);
            }
            (semaphore.request, semaphore.label, semaphore.permits) = (request, label, permits);
            semaphore.surplus = 0;
            (semaphore.version, semaphore.updated_at) = (expected + 1, around.now);
            semaphore.set(queue);
            semaphore.refuse_heavy(around);
            namespace.admit(name, around);
        }
        Ok(namespace.semaphore(name)?.answer())
    }

    pub(crate) fn delete_semaphore(&mut self, ns: Name, name: Name) -> Reply {
        let (namespace, around) = self.within(ns)?;
        let was = namespace.semaphores.get(name).map(Semaphore::shown);
        if let Some(mut semaphore) = namespace.semaphores.remove(name) {
            for lease in semaphore.waits.clone().into_keys() {
                semaphore.end_wait(lease, refused::NO_SEMAPHORE, around);
            }
        }
        namespace.forget_marks();
        Ok(Answer::Deleted(was))
    }

    pub(crate) fn list_semaphores(&mut self, ns: Name, from: &From, limit: usize) -> Reply {
        let all = self.swept(ns)?.0.semaphores.values();
        let all = all.map(|semaphore| (Tag(0.0), semaphore.name.to_owned(), semaphore.shown()));
        Ok(Answer::Semaphores(Page::of(all.collect(), from, limit)))
    }

    pub(crate) fn list_holders(
        &mut self,
        ns: Name,
        name: Name,
        from: &From,
        limit: usize,
    ) -> Reply {
        let all = self.swept(ns)?.0.semaphore(name)?.holds.iter();
        let all = all.map(|(lease, hold)| {
            (Tag(hold.top().locked_at as f64), (*lease).to_owned(), hold.shown(lease))
        });
        Ok(Answer::Holders(Page::of(all.collect(), from, limit)))
    }

    pub(crate) fn list_waiters(
        &mut self,
        ns: Name,
        name: Name,
        from: &From,
        limit: usize,
    ) -> Reply {
        let namespace = self.swept(ns)?.0;
        let leases = namespace.leases.clone();
        let semaphore = namespace.semaphore(name)?;
        let listed = |(lease, wait): (&Name, &Wait)| {
            let shown = semaphore.waiter(lease, wait, &leases[lease]);
            (semaphore.score(lease, wait), (*lease).to_owned(), shown)
        };
        let all = semaphore.waits.iter().map(listed).collect();
        Ok(Answer::Waiters(Page::of(all, from, limit)))
    }

    pub(crate) fn get_waiter(&mut self, ns: Name, name: Name, lease: Name) -> Reply {
        let (namespace, around) = self.swept(ns)?;
        let record = namespace.lease(lease)?.clone();
        let semaphore = namespace.semaphore(name)?;
        let wait = semaphore.waits.get(lease).ok_or(refused::NO_WAITER)?;
        let waiter = semaphore.waiter(lease, wait, &record);
        let waiting = semaphore.waiting(lease, wait, wait.weight, around.now);
        Ok(Answer::Waiter(SemaphoreWaiterResponse { waiter, waiting }))
    }

    // Acquiring.

    pub(crate) fn acquire(&mut self, ns: Name, wanted: AcquireArguments) -> Reply {
        let (namespace, around) = self.within(ns)?;
        namespace.acquire(wanted, around)
    }

    /// A node that subscribes, or doubts what it received, asks about its calls: the parked ones are back
    /// in their places, whoever now fits is admitted, and those granted are answered.
    pub(crate) fn resume(&mut self, ns: Name, calls: &[WaitingCall]) -> Reply {
        let (namespace, around) = self.swept(ns)?;
        let back: Vec<_> =
            calls.iter().filter(|call| namespace.takes_back(**call, around)).collect();
        back.iter().for_each(|call| namespace.admit(call.semaphore, around));
        around.asking.clear();
        let sweep_in = namespace.sweep_in(around.now);
        let fate = |WaitingCall { lease, semaphore, ticket }: &WaitingCall| {
            let Some(semaphore) = namespace.semaphores.get_mut(semaphore) else {
                return Fate::Lost;
            };
            if semaphore.waits.get_mut(lease).is_some_and(|wait| wait.call(*ticket).is_some()) {
                Fate::Waits
            } else if semaphore.claim(lease, *ticket) {
                Fate::Granted(semaphore.acquired(lease))
            } else {
                Fate::Lost
            }
        };
        let fates = calls.iter().map(fate).collect();
        Ok(Answer::CallState { sweep_in, fates })
    }

    /// A call gives up: it was granted, or it has timed out. One whose node is not
    /// subscribed learns here that it was its turn. `asked` is the weight and the
    /// share.
    pub(crate) fn time_out(&mut self, ns: Name, call: WaitingCall, asked: (i64, i64)) -> Reply {
        let WaitingCall { lease, semaphore: name, ticket } = call;
        let (namespace, around) = self.swept(ns)?;
        let process = namespace.lease(lease)?.process;
        namespace.semaphore(name)?;
        if namespace.takes_back(call, around) {
            let wait = namespace.semaphore(name)?.waits.get_mut(lease);
            let call = wait.and_then(|wait| wait.call(ticket)).expect("it is back");
            call.deadline_at = call.deadline_at.max(around.now + 1);
            namespace.admit(name, around);
            around.asking.clear();
        }
        let semaphore = namespace.semaphore(name)?;
        let now = around.now;
        // The place that it gives up; where it stands nowhere any more, the one that it would get.
        let wait = semaphore.waits.get(lease).cloned();
        let wait = wait.unwrap_or_else(|| semaphore.newcomer(lease, process, asked, now));
        let gives_up = Box::new(semaphore.waiting(lease, &wait, wait.weight, now));
        let timed_out = semaphore.drop_call(lease, ticket);
        if timed_out {
            namespace.admit(name, around);
        }
        let semaphore = namespace.semaphore(name)?;
        let granted = !timed_out && semaphore.claim(lease, ticket);
        Ok(Answer::Outcome(if granted {
            semaphore.acquired(lease)
        } else if timed_out {
            Outcome::TimedOut(semaphore.shown(), gives_up)
        } else {
            let would = Box::new(semaphore.waiting(lease, &wait, asked.0, now));
            Outcome::TimedOut(semaphore.shown(), would)
        }))
    }

    /// Nobody waits for this call's answer any more: it leaves the queue, or its grant is undone.
    pub(crate) fn cancel(&mut self, ns: Name, call: WaitingCall) -> Reply {
        let WaitingCall { lease, semaphore: name, ticket } = call;
        let Ok((namespace, around)) = self.within(ns) else { return Ok(Answer::Done) };
        if let Some(semaphore) = namespace.semaphores.get_mut(name) {
            if !semaphore.drop_call(lease, ticket) {
                semaphore.undo(lease, ticket, None);
            }
            namespace.admit(name, around);
        }
        Ok(Answer::Done)
    }

    /// Passes calls over, and keeps their places for a time. A grant that crossed is answered, or
    /// undone to where it stood.
    pub(crate) fn park(&mut self, ns: Name, undo: bool, calls: &[(WaitingCall, Micros)]) -> Reply {
        let mut fates = vec![Fate::Waits; calls.len()];
        let Ok((namespace, around)) = self.swept(ns) else { return Ok(Answer::Park(fates)) };
        for ((WaitingCall { lease, semaphore, ticket }, keep), fate) in calls.iter().zip(&mut fates)
        {
            let until = around.now + keep;
            let Some(semaphore) = namespace.semaphores.get_mut(semaphore) else { continue };
            if let Some(call) = semaphore.waits.get_mut(lease).and_then(|wait| wait.call(*ticket)) {
                (call.parked, call.deadline_at) = (true, call.deadline_at.min(until));
                semaphore.keep_flows();
            } else if undo {
                let kept = Call { ticket: *ticket, deadline_at: until, since: 0, parked: true };
                semaphore.undo(lease, *ticket, Some(kept));
            } else if semaphore.claim(lease, *ticket) {
                *fate = Fate::Granted(semaphore.acquired(lease));
            }
        }
        calls.iter().for_each(|(call, _)| namespace.admit(call.semaphore, around));
        Ok(Answer::Park(fates))
    }

    pub(crate) fn release(&mut self, ns: Name, name: Name, lease: Name) -> Reply {
        let (namespace, around) = self.within(ns)?;
        if namespace.a_lease_is_due(around.now) {
            namespace.sweep(around);
        }
        namespace.lease(lease)?;
        let semaphore = namespace.semaphore(name)?;
        semaphore.last_activity_at = around.now;
        if semaphore.holds.remove(lease).is_some() {
            semaphore.grow_no_more(lease);
            namespace.admit(name, around);
        }
        Ok(namespace.semaphore(name)?.answer())
    }

    // Without an owner.

    pub(crate) fn down(
        &mut self,
        ns: Name,
        name: Name,
        ticket: &str,
        received: &[String],
    ) -> Reply {
        let (namespace, around) = self.within(ns)?;
        namespace.down(name, ticket, received, around)
    }

    pub(crate) fn up(
        &mut self,
        ns: Name,
        name: Name,
        ticket: &str,
        undoes: Option<&str>,
        received: &[String],
    ) -> Reply {
        let (namespace, around) = self.within(ns)?;
        namespace.up(name, ticket, undoes, received, around)
    }

    pub(crate) fn disown(
        &mut self,
        ns: Name,
        name: Name,
        lease: Name,
        received: &[String],
    ) -> Reply {
        let (namespace, around) = self.within(ns)?;
        namespace.disown(name, lease, received, around)
    }

    pub(crate) fn refresh_proxy_leases(&mut self, ns: Name, ttl: Micros, leases: &[Name]) -> Reply {
        if let Ok((namespace, around)) = self.within(ns) {
            namespace.refresh_proxy_leases(leases, ttl, around.now);
        }
        Ok(Answer::Done)
    }

    /// What a node that waits here does when something is due, and as its sign of life.
    pub(crate) fn sweep(&mut self, ns: Name, node: Name) -> Reply {
        let received = usize::from(self.around.listening.contains(node));
        let Ok((namespace, around)) = self.swept(ns) else {
            return Ok(Answer::Swept { sweep_in: -1, waiting: 0, received });
        };
        let waiting = namespace.waiting(node);
        if waiting > 0 {
            namespace.mark(node, around.now);
        }
        Ok(Answer::Swept { sweep_in: namespace.sweep_in(around.now), waiting, received })
    }

    // Leases.

    pub(crate) fn create_lease(
        &mut self,
        ns: Name,
        lease: Name,
        process: Name,
        ttl: Micros,
        label: Label,
    ) -> Reply {
        let (namespace, around) = self.swept(ns)?;
        if !namespace.leases.contains_key(lease) {
            if namespace.leases.len() >= around.limits.leases {
                return Err(refused::MAX_LEASES);
            }
            let (created_at, expires_at) = (around.now, around.now + ttl);
            namespace.leases.insert(lease, Lease { process, label, created_at, expires_at });
            announce_if_first(namespace, lease, around);
        }
        Ok(Answer::Lease(namespace.lease(lease)?.shown(lease)))
    }

    pub(crate) fn get_lease(&mut self, ns: Name, lease: Name) -> Reply {
        let (namespace, around) = self.within(ns)?;
        let found = namespace.lease(lease)?;
        if !found.is_alive(around.now) {
            return Err(refused::NO_LEASE);
        }
        Ok(Answer::Lease(found.shown(lease)))
    }

    pub(crate) fn refresh_lease(&mut self, ns: Name, lease: Name, ttl: Micros) -> Reply {
        let (namespace, around) = self.within(ns)?;
        let alive = |lease: &&mut Lease| lease.is_alive(around.now);
        let refreshed = namespace.leases.get_mut(lease).filter(alive).ok_or(refused::NO_LEASE)?;
        let before = std::mem::replace(&mut refreshed.expires_at, around.now + ttl);
        if around.now + ttl < before {
            announce_if_first(namespace, lease, around);
        }
        Ok(Answer::Lease(namespace.lease(lease)?.shown(lease)))
    }

    pub(crate) fn revoke_lease(&mut self, ns: Name, lease: Name) -> Reply {
        let (namespace, around) = self.within(ns)?;
        if !namespace.lease(lease)?.is_alive(around.now) {
            return Err(refused::NO_LEASE);
        }
        let touched = namespace.end_lease(lease, around);
        touched.into_iter().for_each(|name| namespace.admit(name, around));
        Ok(Answer::Done)
    }

    pub(crate) fn list_leases(
        &mut self,
        ns: Name,
        process: Name,
        from: &From,
        limit: usize,
    ) -> Reply {
        let all = self.swept(ns)?.0.leases.iter();
        let all = all.filter(|(_, lease)| process.is_empty() || lease.process == process);
        let all = all
            .map(|(id, lease)| (Tag(lease.created_at as f64), (*id).to_owned(), lease.shown(id)));
        Ok(Answer::Leases(Page::of(all.collect(), from, limit)))
    }
}

/// The nodes that wait here have set their timers by the lease that was to end first.
fn announce_if_first(namespace: &Namespace, lease: Name, around: &mut Around) {
    let first = namespace.leases.iter().min_by_key(|(id, lease)| (lease.expires_at, **id));
    if let Some((_, first)) = first.filter(|(id, _)| **id == lease) {
        around.said.push(Said::Sooner { sweep_in: (first.expires_at - around.now).max(0) });
    }
}
