//! Load.

pub(crate) mod history;
pub(crate) mod registry;
