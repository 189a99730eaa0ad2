//! The load of semaphores, as this node sees it.
//!
//! - `registry`: all semaphores that this node has seen of late
//! - `history`: one of them, and whether it is a convoy

pub(crate) mod history;
pub(crate) mod registry;
