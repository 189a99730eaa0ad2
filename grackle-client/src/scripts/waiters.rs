//! Waiters: who waits, and why.

use super::reply::parse;
use super::runner::Scripts;
use crate::error::Error;
use crate::pagination::{PageReply, PageStart};
use crate::wire::{SemaphoreWaiterResponse, Waiter};

impl Scripts {
    /// `order`: that of the page before; empty for the first page.
    pub async fn list_semaphore_waiters(
        &self,
        ns: &str,
        name: &str,
        from: &PageStart,
        limit: i64,
        order: &str,
    ) -> Result<PageReply<Waiter>, Error> {
        let mut call = self.on(&self.table.list_semaphore_waiters, ns);
        call.arg(name).page(from, limit);
        parse(&self.text(call.arg(order)).await?)
    }

    pub async fn get_semaphore_waiter(
        &self,
        ns: &str,
        name: &str,
        lease_id: &str,
    ) -> Result<SemaphoreWaiterResponse, Error> {
        let mut call = self.on(&self.table.get_semaphore_waiter, ns);
        parse(&self.text(call.arg(name).arg(lease_id)).await?)
    }
}
