//! A plain semaphore, as answers show it.

use grackle_client::wire::Semaphore;
use serde::Serialize;

use super::name::Name;

#[derive(Debug, Serialize)]
pub(super) struct NamedValue {
    name: String,
    pub(super) value: i64,
}

impl NamedValue {
    pub(super) fn new(name: &Name, semaphore: &Semaphore) -> Self {
        Self { name: name.to_string(), value: semaphore.permits - semaphore.active_holds }
    }
}
