//! One typed function for each file in `lua/`; nothing else runs a script.
//!
//! - `runner`: runs a script until it is done, on the server that has the namespace
//! - `table`: which parts make up which script
//! - `arguments`, `reply`: what scripts take and return
//! - `namespaces`, `semaphores`, `holds`, `waiters`, `leases`, `plain_semaphores`, `sweep`, `watch`: the
//!   functions, by noun
//! - `server_checks`: checks of the servers
//!
//! Hidden from the documentation: tests call single scripts through it.

mod arguments;
mod holds;
mod leases;
#[cfg(test)]
mod lua_header_tests;
mod namespaces;
mod plain_semaphores;
mod reply;
mod runner;
mod semaphores;
mod server_checks;
mod sweep;
mod table;
mod waiters;
mod watch;

pub use arguments::{AcquireArguments, Call, SemaphoreRules};
pub(crate) use plain_semaphores::REMEMBERED_FOR;
pub(crate) use reply::REORDER_WINDOW;
pub use reply::{AcquireReply, CallState, Message, Outcome, SweepReply, WatchReply};
pub(crate) use runner::Observer;
pub use runner::Scripts;

pub use crate::pagination::{Edge, PageReply, PageStart};
