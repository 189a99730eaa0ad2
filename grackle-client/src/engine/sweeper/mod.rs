//! Sweeper.

pub(crate) mod active;
pub(crate) mod idle;
