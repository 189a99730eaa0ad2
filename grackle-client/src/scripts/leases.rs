//! Leases.

use std::time::Duration;

use super::arguments::{json, micros};
use super::reply::{AGAIN, RecordReply, parse};
use super::runner::Scripts;
use crate::error::Error;
use crate::pagination::{PageReply, PageStart};
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

    /// After an unanswered try, or a first step, "not found" means that it is done.
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
        call.arg(process_id).page(from, limit);
        parse(&self.text(&call).await?)
    }

    pub async fn refresh_proxy_leases(
        &self,
        ns: &str,
        ttl: Duration,
        lease_ids: &[String],
    ) -> Result<(), Error> {
        let mut call = self.on(&self.table.refresh_proxy_leases, ns);
        self.text(call.arg(micros(ttl)).arg(lease_ids)).await.map(drop)
    }
}

fn lease(reply: RecordReply) -> Result<Lease, Error> {
    reply.lease.ok_or_else(|| Error::internal("a script left the lease out"))
}
