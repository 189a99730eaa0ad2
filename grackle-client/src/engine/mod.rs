//! The engine: what the calls of one client share.
//!
//! - `assembly`: makes the parts and gives each what it needs
//! - `acquire`: one acquire, from the request to the answer
//! - `waiters`: the calls that wait
//! - `subscriber`: the connections on which their answers arrive
//! - `namespace_subscriptions`, `missed_answers`: begin and end with waiting; ask again after a gap
//! - `sweeper`: ends in Redis what has expired
//! - `watch`: streams of a semaphore's states
//! - `plain_semaphores`: permits that no lease owns
//! - `replication`: grants that wait for replicas
//! - `load`: how busy each semaphore is, and convoys
//! - `cleanup`, `shutdown`: calls whose callers are gone; a client that ends
//! - `diagnostics`: warnings about the Redis servers
//! - `tasks`, `tickets`: background tasks; the ids of calls

mod acquire;
mod assembly;
mod cleanup;
mod diagnostics;
mod load;
mod missed_answers;
mod namespace_subscriptions;
mod plain_semaphores;
mod replication;
mod shutdown;
mod subscriber;
mod sweeper;
mod tasks;
mod tickets;
mod waiters;
mod watch;

pub(crate) use acquire::acquire;
pub(crate) use assembly::Engine;
pub use watch::semaphore_watch::SemaphoreWatch;
