//! Watch.

pub(crate) mod registry;
pub(crate) mod stream;
pub(crate) mod task;
