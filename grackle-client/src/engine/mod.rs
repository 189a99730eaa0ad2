//! The engine: what the calls of one client share, put together from its parts.
//!
//! - `acquire`: one acquire, from the request to the answer
//! - `waiters`: the calls that wait
//! - `subscriber`: the connections on which their answers arrive
//! - `namespace_subscriptions`, `resume`: begin and end with waiting; ask again after a gap
//! - `sweeper`: ends in Redis what has expired
//! - `watch`: streams of a semaphore's states
//! - `plain`: permits that no lease owns
//! - `replication`: grants that wait for replicas
//! - `load`: how busy each semaphore is, and convoys
//! - `cleanup`, `shutdown`: calls whose callers are gone; a client that ends
//! - `diagnostics`: warnings about the Redis servers
//! - `tasks`, `tickets`: background tasks; the ids of calls

mod acquire;
mod cleanup;
mod diagnostics;
mod load;
mod namespace_subscriptions;
mod parts;
mod plain;
mod replication;
mod resume;
mod shutdown;
mod subscriber;
mod sweeper;
mod tasks;
mod tickets;
mod waiters;
mod watch;

pub(crate) use acquire::acquire;
pub(crate) use parts::Engine;
pub use watch::semaphore_watch::SemaphoreWatch;
