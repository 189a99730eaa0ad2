use super::{
    Answer, Around, Grant, Hold, MAX_PERMITS, Micros, Name, Namespace, Refused, Semaphore, refused,
};

/// Who holds what no lease ends.
pub(crate) const OWNERLESS: Name = "ownerless";
/// How long a call is remembered whose answer nobody is known to have received.
const REMEMBERED_FOR: Micros = 600_000_000;

/// What was done without an owner, by the tickets of who did it, and when some of it is forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Remembered {
    pub(crate) calls: std::collections::BTreeMap<String, Micros>,
    pub(crate) due: Option<Micros>,
}

impl Remembered {
    fn add(&mut self, ticket: &str, now: Micros) {
        let until = now + REMEMBERED_FOR;
        self.calls.insert(ticket.to_owned(), until);
        self.due.get_or_insert(until);
    }

    fn has(&self, ticket: &str) -> bool {
        self.calls.contains_key(ticket)
    }

    fn received(&mut self, tickets: &[String]) {
        self.calls.retain(|ticket, _| !tickets.contains(ticket));
    }

    /// Forgets what is over, where something is due.
    pub(crate) fn forget(&mut self, now: Micros) {
        if self.due.is_some_and(|due| due <= now) {
            self.calls.retain(|_, until| *until > now);
            self.due = self.calls.values().min().copied();
        }
    }
}

impl Namespace {
    /// One permit for nobody, where it is free and nobody waits for it.
    pub(crate) fn down(
        &mut self,
        name: Name,
        ticket: &str,
        received: &[String],
        around: &mut Around,
    ) -> Result<Answer, Refused> {
        if self.a_lease_is_due(around.now) {
            self.sweep(around);
        }
        if !self.semaphore(name)?.queue().is_empty() {
            self.sweep(around);
            self.admit(name, around);
        }
        let semaphore = self.semaphore(name)?;
        let free = semaphore.queue().is_empty() && semaphore.held() < semaphore.permits;
        let done = semaphore.remembered.has(ticket);
        if !done {
            semaphore.last_activity_at = around.now;
        }
        if !done && free {
            semaphore.hold_ownerless(1, around.now);
            semaphore.remembered.add(ticket, around.now);
        }
        semaphore.remembered.received(received);
        Ok(Answer::Taken(done || free, semaphore.shown()))
    }

    /// One of them less, or a permit more; handed on. It may be to undo a certain down, if that did
    /// anything.
    pub(crate) fn up(
        &mut self,
        name: Name,
        ticket: &str,
        undoes: Option<&str>,
        received: &[String],
        around: &mut Around,
    ) -> Result<Answer, Refused> {
        if self.a_lease_is_due(around.now) {
            self.sweep(around);
        }
        let semaphore = self.semaphore(name)?;
        let wanted = undoes.is_none_or(|undoes| semaphore.remembered.has(undoes));
        if wanted && !semaphore.remembered.has(ticket) {
            if !semaphore.drop_ownerless() {
                if semaphore.permits == MAX_PERMITS {
                    return Err(refused::MAX_PERMITS);
                }
                semaphore.change_permits(1, around.now);
                semaphore.surplus += i64::from(semaphore.has_proxy_lease());
            }
            semaphore.remembered.add(ticket, around.now);
            semaphore.remembered.calls.remove(undoes.unwrap_or_default());
            semaphore.last_activity_at = around.now;
            self.admit(name, around);
        }
        let semaphore = self.semaphore(name)?;
        semaphore.last_activity_at = around.now;
        semaphore.remembered.received(received);
        Ok(semaphore.answer())
    }

    /// One permit of what a lease holds becomes nobody's, and the lease ends.
    pub(crate) fn disown(
        &mut self,
        name: Name,
        lease: Name,
        received: &[String],
        around: &mut Around,
    ) -> Result<Answer, Refused> {
        self.sweep(around);
        let there = self.leases.contains_key(lease);
        let semaphore = self.semaphore(name)?;
        if !semaphore.remembered.has(lease) {
            if !there || semaphore.holds.remove(lease).is_none() {
                return Err(refused::NO_LEASE);
            }
            if semaphore.surplus > 0 {
                semaphore.surplus -= 1;
                semaphore.change_permits(-1, around.now);
                semaphore.refuse_heavy(around);
            } else {
                semaphore.hold_ownerless(1, around.now);
            }
            let semaphore = self.semaphore(name)?;
            semaphore.remembered.add(lease, around.now);
            let mut touched = self.end_lease(lease, around);
            touched.insert(name);
            touched.into_iter().for_each(|name| self.admit(name, around));
        }
        self.semaphore(name)?.remembered.received(received);
        Ok(self.semaphore(name)?.answer())
    }

    pub(crate) fn refresh_proxy_leases(&mut self, leases: &[Name], ttl: Micros, now: Micros) {
        for lease in leases {
            if let Some(lease) = self.leases.get_mut(lease).filter(|lease| lease.is_alive(now)) {
                lease.expires_at = now + ttl;
            }
        }
    }
}

impl Semaphore {
    fn change_permits(&mut self, by: i64, now: Micros) {
        self.permits += by;
        (self.version, self.updated_at) = (self.version + 1, now);
    }

    /// Is a permit on its way to a down that has waited?
    fn has_proxy_lease(&self) -> bool {
        self.holds.keys().any(|lease| lease.starts_with("proxy_"))
    }

    fn hold_ownerless(&mut self, weight: i64, now: Micros) {
        self.last_token = now.max(self.last_token + 1);
        let weight = weight + self.held_by(OWNERLESS);
        let (answered, parked) = (Vec::new(), Vec::new());
        let (label, locked_at, stood, settled) = (0, now, None, true);
        let grant = Grant { weight, label, locked_at, answered, parked, stood, settled };
        self.holds.insert(OWNERLESS, Hold { token: self.last_token, grants: vec![grant] });
    }

    fn drop_ownerless(&mut self) -> bool {
        let Some(hold) = self.holds.get_mut(OWNERLESS) else { return false };
        hold.grants[0].weight -= 1;
        if hold.grants[0].weight == 0 {
            self.holds.remove(OWNERLESS);
        }
        true
    }
}
