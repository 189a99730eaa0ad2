//! Waiters: who waits, why, and how long it may take.

mod estimate;
mod explain;
mod list;

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{AcquireArguments, Edge, Outcome, PageStart, SemaphoreRules};
use grackle_client::wire::QueueDiscipline::{Fifo, Lifo, Weighted};
use grackle_client::wire::{
    Drained, Holder, ListSemaphoreWaitersRequest, Metadata, SemaphoreWaiterResponse,
    UpdateSemaphoreRequest, Waiter, Waiting,
};
use grackle_test_support::script_world::{
    MINUTE, NS, Node, SEM, START, World, lease_id, metadata, now_or_never, wanted,
};
use grackle_test_support::{TestNamespace, TestRedis};

pub(super) async fn waiters(w: &World) -> Vec<Waiter> {
    let page = w.scripts.list_semaphore_waiters(NS, SEM, &PageStart::First, 250, "").await;
    w.check().await;
    page.unwrap().entries
}

pub(super) async fn waiter(w: &World, lease: &str) -> Result<SemaphoreWaiterResponse, Error> {
    let found = w.scripts.get_semaphore_waiter(NS, SEM, &lease_id(lease)).await;
    w.check().await;
    found
}

pub(super) async fn waiting(w: &World, lease: &str) -> Waiting {
    waiter(w, lease).await.unwrap().waiting
}

/// Asks at once or never, and why not.
pub(super) async fn refused(w: &World, n: &mut Node, lease: &str, weight: i64) -> Waiting {
    let wanted = AcquireArguments { explain: true, ..now_or_never(weight) };
    let reply = w.ask(&n.call(lease), wanted).await.unwrap();
    assert_eq!(reply.outcome, Outcome::Unavailable);
    *reply.waiting.unwrap()
}

/// Position and weight ahead.
pub(super) fn place(waiting: &Waiting) -> (i64, i64) {
    assert!(!waiting.weight_ahead_is_least);
    (waiting.position, waiting.weight_ahead)
}

/// Weight and seconds drained, and the estimate.
pub(super) fn estimate(waiting: &Waiting) -> Option<(i64, i64, i64)> {
    let Drained { weight, seconds } = waiting.drained?;
    Some((weight, seconds, waiting.estimated_wait_seconds.unwrap()))
}
