//! Watching a semaphore: a stream of its states.
//!
//! - `registry`: the semaphores that this node watches
//! - `latest_state`: what its watchers are shown
//! - `task`: keeps one of them up to date
//! - `watcher`: joins a watch, and leaves it
//! - `semaphore_watch`: the stream of one watcher, as the client returns it

mod latest_state;
pub(crate) mod registry;
pub(crate) mod semaphore_watch;
pub(crate) mod task;
pub(crate) mod watcher;
