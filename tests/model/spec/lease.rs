use super::{Label, Micros, Name};

/// The one thing that expires; what it holds and waits for ends with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lease {
    pub(crate) process: Name,
    pub(crate) label: Label,
    pub(crate) created_at: Micros,
    pub(crate) expires_at: Micros,
}

impl Lease {
    pub(crate) fn is_alive(&self, now: Micros) -> bool {
        self.expires_at > now
    }
}
