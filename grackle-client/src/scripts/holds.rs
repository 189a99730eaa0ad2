//! Holds: acquired, waited for, released.

use std::time::Duration;

use deadpool_redis::redis::RedisError;
use deadpool_redis::redis::aio::MultiplexedConnection;

use super::arguments::{AcquireArguments, Call, json, micros};
use super::reply::{AcquireReply, CallState, parse};
use super::runner::Scripts;
use super::semaphores::semaphore;
use crate::error::Error;
use crate::pagination::{PageReply, PageStart};
use crate::wire::{Holder, Semaphore};

impl Scripts {
    pub async fn acquire(
        &self,
        ns: &str,
        call: &Call,
        wanted: AcquireArguments<'_>,
    ) -> Result<AcquireReply, Error> {
        let mut script = self.on(&self.table.acquire, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(wanted.weight);
        script
            .arg(wanted.share)
            .arg(json(wanted.metadata))
            .arg(&call.ticket)
            .arg(micros(wanted.timeout));
        script.arg(i32::from(wanted.listening)).arg(self.limits.max_holders);
        script.arg(self.limits.max_waiters).arg(self.limits.max_holds_per_lease);
        if wanted.explain {
            script.arg(1);
        }
        self.reply(&script).await
    }

    /// µs until a sweep is due, and the state of each call.
    pub async fn resume(&self, ns: &str, calls: &[Call]) -> Result<(i64, Vec<CallState>), Error> {
        let mut script = self.on(&self.table.resume, ns);
        for call in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket);
        }
        let replies: Vec<String> = self.list(&script).await?;
        let (sweep_in, replies) =
            replies.split_first().ok_or_else(|| Error::internal("resume answered nothing"))?;
        let resumed = replies
            .iter()
            .map(|reply| CallState::parse(reply).map(|state| self.observed(ns, state)))
            .collect::<Result<_, _>>()?;
        Ok((parse(sweep_in)?, resumed))
    }

    /// `explain`: the weight and the share that were asked for, where a time-out is to say why.
    pub async fn time_out(
        &self,
        ns: &str,
        call: &Call,
        explain: Option<(i64, i64)>,
    ) -> Result<AcquireReply, Error> {
        let mut script = self.on(&self.table.time_out, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(&call.ticket);
        if let Some((weight, share)) = explain {
            script.arg(weight).arg(share);
        }
        self.reply(&script).await
    }

    pub async fn cancel(&self, ns: &str, call: &Call) -> Result<(), Error> {
        let mut script = self.on(&self.table.cancel, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(&call.ticket);
        self.text(&script).await.map(drop)
    }

    /// Whether the server of that connection has the grant of each call. The connection then counts as
    /// the one that wrote them.
    pub async fn touch_holds(
        &self,
        mut connection: MultiplexedConnection,
        ns: &str,
        calls: &[&Call],
    ) -> Result<Vec<bool>, RedisError> {
        let mut script = self.on(&self.table.touch_holds, ns);
        for call in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket);
        }
        script.script.invoke_async(&mut connection).await
    }

    /// Parks calls, each for a time. A grant that crossed is answered, or undone.
    pub async fn park(
        &self,
        ns: &str,
        undo_crossed: bool,
        calls: &[(Call, Duration)],
    ) -> Result<Vec<CallState>, Error> {
        let mut script = self.on(&self.table.park, ns);
        script.arg(if undo_crossed { "undo" } else { "keep" });
        for (call, keep) in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket).arg(micros(*keep));
        }
        self.list(&script)
            .await?
            .iter()
            .map(|reply| CallState::parse(reply).map(|state| self.observed(ns, state)))
            .collect()
    }

    pub async fn release(&self, ns: &str, name: &str, lease_id: &str) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.release, ns);
        self.record(call.arg(name).arg(lease_id)).await.and_then(semaphore)
    }

    pub async fn list_semaphore_holders(
        &self,
        ns: &str,
        name: &str,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Holder>, Error> {
        let mut call = self.on(&self.table.list_semaphore_holders, ns);
        call.arg(name).page(from, limit);
        parse(&self.text(&call).await?)
    }
}
