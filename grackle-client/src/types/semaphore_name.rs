//! A semaphore with its namespace.

/// A semaphore by its full name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SemaphoreName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}
