//! Plain semaphores: permits that no lease owns.

use std::time::Duration;

use super::reply::AcquireReply;
use super::runner::Scripts;
use super::semaphores::semaphore;
use crate::error::Error;
use crate::wire::Semaphore;

/// How long Redis remembers downs and ups that are not acknowledged (`ownerless_hold.lua`).
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(600);

impl Scripts {
    /// `acknowledged`: tickets of calls on this semaphore whose answers have come.
    pub async fn down(
        &self,
        ns: &str,
        name: &str,
        ticket: &str,
        acknowledged: &[String],
    ) -> Result<AcquireReply, Error> {
        let mut call = self.on(&self.table.down, ns);
        self.reply(call.arg(name).arg(ticket).arg(acknowledged)).await
    }

    pub async fn up(
        &self,
        ns: &str,
        name: &str,
        ticket: &str,
        acknowledged: &[String],
    ) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.up, ns);
        self.record(call.arg(name).arg(ticket).arg("").arg(acknowledged)).await.and_then(semaphore)
    }

    /// Gives back what a down took, if it took a permit. `ticket` is this call's, `undoes` that call's.
    pub async fn undo_down(
        &self,
        ns: &str,
        name: &str,
        ticket: &str,
        undoes: &str,
    ) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.up, ns);
        self.record(call.arg(name).arg(ticket).arg(undoes)).await.and_then(semaphore)
    }

    /// Turns a permit of the lease into an ownerless hold, and ends the lease. Its id is the ticket.
    pub async fn disown(
        &self,
        ns: &str,
        name: &str,
        lease_id: &str,
        acknowledged: &[String],
    ) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.disown, ns);
        self.record(call.arg(name).arg(lease_id).arg(acknowledged)).await.and_then(semaphore)
    }
}
