//! What has to hold of the model itself, whatever it is asked.

use std::collections::BTreeSet;

use crate::op::Op;
use crate::spec::{Micros, Model, Name, Namespace, OWNERLESS, Semaphore, Tag, Wait};

/// The promise that this step has broken, in words.
pub(crate) fn broken(before: &Model, op: &Op, after: &Model) -> Option<String> {
    let each = after.namespaces.iter().flat_map(|(ns, namespace)| {
        namespace.semaphores.values().map(move |semaphore| (*ns, namespace, semaphore))
    });
    each.into_iter().find_map(|(ns, namespace, semaphore)| {
        let old = before.namespaces.get(ns).and_then(|old| old.semaphores.get(semaphore.name));
        let broken = permits(semaphore)
            .or_else(|| leases(namespace, semaphore))
            .or_else(|| hand_off(namespace, semaphore, after))
            .or_else(|| tokens(old?, semaphore))
            .or_else(|| arrival(old?, op, semaphore))
            .or_else(|| {
                let ended = ended(before, ns, after.around.now);
                finality(old?, op, semaphore, &ended)
            });
        Some(format!("{ns}/{}: {}", semaphore.name, broken?))
    })
}

/// Never more is held than there is.
fn permits(semaphore: &Semaphore) -> Option<String> {
    let held: i128 = semaphore.holds.values().map(|hold| i128::from(hold.top().weight)).sum();
    (held > i128::from(semaphore.permits)).then(|| format!("{held} of {}", semaphore.permits))
}

/// A hold or a wait lives no longer than its lease.
fn leases(namespace: &Namespace, semaphore: &Semaphore) -> Option<String> {
    let mut here = semaphore.holds.keys().chain(semaphore.waits.keys());
    let gone = here.find(|lease| **lease != OWNERLESS && !namespace.leases.contains_key(*lease))?;
    Some(format!("{gone} has ended, and holds or waits"))
}

/// Nobody waits at the head for what is free, where nothing is due.
fn hand_off(namespace: &Namespace, semaphore: &Semaphore, after: &Model) -> Option<String> {
    let head = *semaphore.queue().first()?;
    let wait = &semaphore.waits[head];
    let need = wait.weight - semaphore.held_by(head);
    let idle = namespace.sweep_in(after.around.now) != 0 && !wait.is_over(after.around.now);
    let fits = need <= semaphore.permits - semaphore.held();
    (idle && fits).then(|| format!("{head} fits, and waits"))
}

/// Tokens rise from hold to hold.
fn tokens(old: &Semaphore, new: &Semaphore) -> Option<String> {
    let is_new =
        |lease: &Name| old.holds.get(lease).is_none_or(|hold| hold.token != new.holds[lease].token);
    let low = |lease: &&Name| is_new(lease) && new.holds[*lease].token <= old.last_token;
    let all: BTreeSet<_> = new.holds.values().map(|hold| hold.token).collect();
    if old.created_at != new.created_at {
        return None;
    } else if all.len() < new.holds.len() {
        return Some("two holds have one token".to_owned());
    }
    new.holds.keys().find(low).map(|lease| format!("{lease}'s token does not rise"))
}

/// Grants follow the order in which waiters stand, of those who listen.
fn arrival(old: &Semaphore, op: &Op, new: &Semaphore) -> Option<String> {
    let queue = old.queue();
    let granted = |lease: &&Name| {
        let more = new.held_by(lease) > old.held_by(lease);
        more && !new.waits.contains_key(*lease) && new.holds[*lease].top().stood.is_some()
    };
    let place =
        |semaphore: &Semaphore, lease: Name| semaphore.place(lease, &semaphore.waits[lease]);
    let overtakes = |lease: Name| {
        let from = (granted_from(old, op, new, lease), lease);
        let passed = |other: &&Name| {
            let listens = new.waits.get(*other).is_some_and(Wait::listens);
            let stays = listens && place(old, other) == place(new, other);
            stays && (place(old, other), **other) < from
        };
        let passed = queue.iter().find(passed)?;
        Some(format!("{passed} is overtaken by {lease}"))
    };
    queue.iter().filter(granted).find_map(|lease| overtakes(lease))
}

/// The place from which a waiter was granted: where it stood, or, where this very step has it ask for
/// another weight or share in a weighted queue, where it stands by that.
fn granted_from(old: &Semaphore, op: &Op, new: &Semaphore, lease: Name) -> (bool, Tag) {
    let mut wait = old.waits[lease].clone();
    let asks = matches!(op, Op::Acquire { wanted, .. } if wanted.lease == lease);
    let grant = new.holds[lease].top();
    if let Some(stood) = grant.stood.filter(|stood| asks && stood.start.is_some()) {
        (wait.weight, wait.share, wait.start) = (grant.weight, stood.share, stood.start);
    }
    old.place(lease, &wait)
}

/// The leases that are over by now.
fn ended(before: &Model, ns: Name, now: Micros) -> BTreeSet<Name> {
    let leases = before.namespaces.get(ns).into_iter().flat_map(|namespace| &namespace.leases);
    leases.filter(|(_, lease)| !lease.is_alive(now)).map(|(lease, _)| *lease).collect()
}

/// A grant is final: it ends by its lease, by its owner, or with the semaphore.
fn finality(old: &Semaphore, op: &Op, new: &Semaphore, ended: &BTreeSet<Name>) -> Option<String> {
    let by_owner: Vec<Name> = match op {
        Op::Release { lease, .. } | Op::RevokeLease { lease, .. } => vec![*lease],
        Op::Cancel { call, .. } => vec![call.lease],
        Op::Disown { lease, .. } => vec![*lease],
        Op::Up { .. } => vec![OWNERLESS],
        Op::SetAside { undo: true, calls, .. } => {
            calls.iter().map(|(call, _)| call.lease).collect()
        }
        _ => Vec::new(),
    };
    let mut lost = old.holds.keys().filter(|lease| !new.holds.contains_key(*lease));
    let lost = lost.find(|lease| !by_owner.contains(lease) && !ended.contains(*lease));
    Some(format!("{} lost its hold", lost?))
}
