//! Permits without an owner.

use super::reply::AcquireReply;
use super::{Scripts, semaphore};
use crate::error::Error;
use crate::wire::Semaphore;

impl Scripts {
    /// `heard` are the tickets of calls on this semaphore whose answers came.
    pub async fn down(
        &self,
        ns: &str,
        name: &str,
        ticket: &str,
        heard: &[String],
    ) -> Result<AcquireReply, Error> {
        let mut call = self.on(&self.table.down, ns);
        self.acquire_reply(ns, call.arg(name).arg(ticket).arg(heard)).await
    }

    pub async fn up(
        &self,
        ns: &str,
        name: &str,
        ticket: &str,
        heard: &[String],
    ) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.up, ns);
        self.record(call.arg(name).arg(ticket).arg("").arg(heard)).await.and_then(semaphore)
    }

    /// Gives back what a down took, if it did. `ticket` stands for this call, `undoes` for that.
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

    /// The lease's hold becomes nobody's; the lease ends, and is the call's ticket.
    pub async fn disown(
        &self,
        ns: &str,
        name: &str,
        lease_id: &str,
        heard: &[String],
    ) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.disown, ns);
        self.record(call.arg(name).arg(lease_id).arg(heard)).await.and_then(semaphore)
    }
}
