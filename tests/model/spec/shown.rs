//! The records as the API shows them: in nanoseconds, labels as texts.

use grackle_client::wire::{self, Metadata};

use super::{Answer, Hold, Label, Lease, MAX_PERMITS, Micros, Name, Namespace, Semaphore, Wait};

pub(crate) fn description(label: Label) -> String {
    if label == 0 { String::new() } else { format!("about \"{label}\"") }
}

pub(crate) fn metadata(label: Label) -> Metadata {
    (0..label).map(|key| (format!("ключ {key}"), label.to_string())).collect()
}

fn nanos(micros: Micros) -> i64 {
    micros * 1_000
}

impl Namespace {
    pub(crate) fn shown(&self, name: Name) -> wire::Namespace {
        wire::Namespace {
            name: name.to_owned(),
            description: description(self.label),
            metadata: metadata(self.label),
            version: self.version,
            created_at: nanos(self.created_at),
            updated_at: nanos(self.updated_at),
        }
    }
}

impl Semaphore {
    pub(crate) fn shown(&self) -> wire::Semaphore {
        wire::Semaphore {
            name: self.name.to_owned(),
            description: description(self.label),
            permits: self.permits,
            active_holds: self.held(),
            active_holders_count: self.holds.len() as i64,
            waiting_count: self.queue().len() as i64,
            waiting_weight: self.waiting_weight(),
            queue_discipline: self.discipline,
            max_waiters: Some(self.max_waiters).filter(|most| *most > 0),
            metadata: metadata(self.label),
            version: self.version,
            created_at: nanos(self.created_at),
            updated_at: nanos(self.updated_at),
            last_activity_at: nanos(self.last_activity_at),
        }
    }

    /// Why a lease waits for that weight, or would; where it stands, or would.
    pub(crate) fn waiting(
        &self,
        lease: Name,
        wait: &Wait,
        weight: i64,
        now: Micros,
    ) -> wire::Waiting {
        let ahead = self.ahead_of(lease, wait);
        let sum: i128 = ahead.iter().map(|other| i128::from(self.waits[other].weight)).sum();
        let weight_ahead = sum.min(i128::from(MAX_PERMITS)) as i64;
        let mut holders: Vec<_> = self.holds.iter().collect();
        holders.sort_by_key(|(lease, hold)| (hold.top().locked_at, **lease));
        let drained = self.drain.shown(now);
        // Lua's numbers are doubles.
        let wait = |drained: wire::Drained| {
            let whole = (weight_ahead as f64 + weight as f64) * drained.seconds as f64;
            (whole / drained.weight as f64).ceil() as i64
        };
        wire::Waiting {
            position: ahead.len() as i64 + 1,
            weight_ahead,
            weight_ahead_is_least: sum > i128::from(MAX_PERMITS),
            holders: holders.iter().take(10).map(|(lease, hold)| hold.shown(lease)).collect(),
            estimated_wait_seconds: drained.map(wait),
            drained,
        }
    }

    pub(crate) fn waiter(&self, id: Name, wait: &Wait, lease: &Lease) -> wire::Waiter {
        let deadlines = wait.calls.iter().map(|call| call.deadline_at);
        wire::Waiter {
            lease_id: id.to_owned(),
            process_id: lease.process.to_owned(),
            weight: wait.weight,
            share: wait.share,
            queued_at: nanos(wait.queued_at),
            deadline_at: nanos(deadlines.max().expect("a call")),
            position: if wait.listens() { self.ahead_of(id, wait).len() as i64 + 1 } else { 0 },
            set_aside: !wait.listens(),
            metadata: metadata(wait.label),
        }
    }

    pub(crate) fn answer(&self) -> Answer {
        Answer::Semaphore(self.shown())
    }
}

impl Hold {
    pub(crate) fn shown(&self, lease: Name) -> wire::Holder {
        wire::Holder {
            lease_id: lease.to_owned(),
            weight: self.top().weight,
            locked_at: nanos(self.top().locked_at),
            fencing_token: self.token,
            metadata: metadata(self.top().label),
        }
    }
}

impl Lease {
    pub(crate) fn shown(&self, id: Name) -> wire::Lease {
        wire::Lease {
            lease_id: id.to_owned(),
            process_id: self.process.to_owned(),
            created_at: nanos(self.created_at),
            expires_at: nanos(self.expires_at),
            metadata: metadata(self.label),
        }
    }
}
