//! Each script against a real Redis, on a clock that the tests move: one test for each documented
//! outcome, and walks through all of them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod acquire;
mod call_counts;
mod crowds;
mod dead_nodes;
mod depth;
mod disciplines;
mod ending;
mod fencing;
mod growing;
mod leases;
mod lists;
mod naive;
mod namespaces;
mod one_waiter;
mod park;
mod plain_semaphores;
mod queue;
mod random;
mod schedules;
mod semaphores;
mod sweep;
mod touch_holds;
mod waiters;
mod watch;
mod weights;
