//! Leases.

use std::time::Duration;

use super::reply::{AGAIN, RecordReply, parse};
use super::{PageReply, PageStart, Scripts, json, micros, page_args};
use crate::error::Error;
use crate::wire::{Lease, Metadata};

impl Scripts {
    pub async fn create_lease(
        &self,
        ns: &str,
        lease_id: &str,
        process_id: &str,
        ttl: Duration,
        metadata: &Metadata,
    ) -> Result<Lease, Error> {
        let mut call = self.on(&self.table.create_lease, ns);
        call.arg(lease_id).arg(process_id).arg(micros(ttl)).arg(json(metadata));
        self.record(call.arg(self.limits.max_leases)).await.and_then(lease)
    }

    pub async fn get_lease(&self, ns: &str, lease_id: &str) -> Result<Lease, Error> {
        let mut call = self.on(&self.table.get_lease, ns);
        self.record(call.arg(lease_id)).await.and_then(lease)
    }

    pub async fn refresh_lease(
        &self,
        ns: &str,
        lease_id: &str,
        ttl: Duration,
    ) -> Result<Lease, Error> {
        let mut call = self.on(&self.table.refresh_lease, ns);
        self.record(call.arg(lease_id).arg(micros(ttl))).await.and_then(lease)
    }

    /// Where an attempt went unanswered, or the work takes several steps, "not found" on a later
    /// one means that it is done.
    pub async fn revoke_lease(&self, ns: &str, lease_id: &str) -> Result<(), Error> {
        let mut call = self.on(&self.table.revoke_lease, ns);
        call.arg(lease_id);
        let mut begun = false;
        loop {
            match self.once(&call).await {
                Ok(reply) if reply == AGAIN => begun = true,
                Ok(_) => return Ok(()),
                Err((Error::LeaseNotFound, retried)) if begun || retried => return Ok(()),
                Err((error, _)) => return Err(error),
            }
        }
    }

    pub async fn list_leases(
        &self,
        ns: &str,
        process_id: &str,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Lease>, Error> {
        let mut call = self.on(&self.table.list_leases, ns);
        page_args(call.arg(process_id), from, limit);
        parse(&self.text(&call).await?)
    }

    pub async fn keep_leases(
        &self,
        ns: &str,
        ttl: Duration,
        lease_ids: &[String],
    ) -> Result<(), Error> {
        let mut call = self.on(&self.table.keep_leases, ns);
        self.text(call.arg(micros(ttl)).arg(lease_ids)).await.map(drop)
    }
}

fn lease(reply: RecordReply) -> Result<Lease, Error> {
    reply.lease.ok_or_else(|| Error::internal("a script left the lease out"))
}
