//! One typed function for each file in `lua/`; nothing else runs a script.
//!
//! - `runner`: runs a script until it is done, on the server that has the namespace
//! - `table`: which parts make up which script
//! - `arguments`, `reply`: what scripts take and return
//! - `namespaces`, `semaphores`, `holds`, `waiters`, `leases`, `plain`, `upkeep`: the functions, by noun
//!
//! Hidden from the documentation: tests call single scripts through it.

mod arguments;
#[cfg(test)]
mod contract;
mod holds;
mod leases;
mod namespaces;
mod plain;
mod reply;
mod runner;
mod semaphores;
mod table;
mod upkeep;
mod waiters;

pub use arguments::{AcquireArguments, Call, SemaphoreRules};
pub(crate) use plain::REMEMBERED_FOR;
pub(crate) use reply::REORDER_WINDOW;
pub use reply::{AcquireReply, CallState, Message, Outcome, SweepReply, WatchReply};
pub(crate) use runner::Observer;
pub use runner::Scripts;

pub use crate::pagination::{Edge, PageReply, PageStart};
