//! The records as the API shows them: in nanoseconds, labels as texts.

use grackle_client::types::{self, Metadata};

use super::{Answer, Hold, Label, Lease, Micros, Name, Namespace, Semaphore};

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
    pub(crate) fn shown(&self, name: Name) -> types::Namespace {
        types::Namespace {
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
    pub(crate) fn shown(&self) -> types::Semaphore {
        types::Semaphore {
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

    pub(crate) fn answer(&self) -> Answer {
        Answer::Semaphore(self.shown())
    }
}

impl Hold {
    pub(crate) fn shown(&self, lease: Name) -> types::Holder {
        types::Holder {
            lease_id: lease.to_owned(),
            weight: self.top().weight,
            locked_at: nanos(self.top().locked_at),
            fencing_token: self.token,
            metadata: metadata(self.top().label),
        }
    }
}

impl Lease {
    pub(crate) fn shown(&self, id: Name) -> types::Lease {
        types::Lease {
            lease_id: id.to_owned(),
            process_id: self.process.to_owned(),
            created_at: nanos(self.created_at),
            expires_at: nanos(self.expires_at),
            metadata: metadata(self.label),
        }
    }
}
