//! Upkeep: sweeps, watches, messages, and checks of the server.

use deadpool_redis::redis;

use super::reply::{Message, SweepReply, WatchReply, parse};
use super::runner::Scripts;
use crate::error::Error;
use crate::transport::diagnostics::Diagnostics;
use crate::transport::topology::Address;

/// No namespace can have this name.
const NO_NAMESPACE: &str = "grackle.check";

impl Scripts {
    /// Sends one PING, without a retry.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.router.ping().await
    }

    /// Checks, before anything is written, that this user may run the commands of the scripts.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        let call = self.on(&self.table.check, NO_NAMESPACE);
        self.text(&call).await.map(drop).map_err(|error| match error {
            Error::Internal { reason, source } => Error::Unavailable {
                reason: format!("{reason}; give this user the rights that docs/running.md lists"),
                source,
            },
            other => other,
        })
    }

    /// What each server reports about how it keeps its data.
    pub(crate) async fn diagnose(&self) -> Result<Vec<(Address, Diagnostics)>, Error> {
        self.router.ask_all(Diagnostics::ask).await
    }

    /// Makes the next command connect anew: the address may lead to another server by now.
    pub(crate) async fn reconnect(&self, address: &Address) {
        self.router.reconnect(address).await;
    }

    /// Checks that this user may run WAIT; for no replica it returns at once.
    pub(crate) async fn check_wait(&self) -> Result<(), Error> {
        let mut wait = redis::cmd("WAIT");
        wait.arg(0).arg(1);
        self.command::<i64>(&wait).await.map(drop)
    }

    pub async fn sweep(&self, ns: &str, node: &str) -> Result<SweepReply, Error> {
        let mut call = self.on(&self.table.sweep, ns);
        parse(&self.text(call.arg(node)).await?)
    }

    /// Marks the semaphore as watched, for a time; returns its present state.
    pub async fn watch(&self, ns: &str, name: &str) -> Result<WatchReply, Error> {
        let mut call = self.on(&self.table.watch, ns);
        self.reply(call.arg(name)).await
    }

    /// Reads a message on a node's channel.
    pub(crate) fn message(&self, ns: &str, payload: &[u8]) -> Result<Message, Error> {
        let message = parse(&String::from_utf8_lossy(payload))?;
        Ok(self.observed(ns, message))
    }

    /// Reads a message on the channel of a watched semaphore.
    pub(crate) fn watch_message(&self, ns: &str, payload: &[u8]) -> Result<WatchReply, Error> {
        let message = parse(&String::from_utf8_lossy(payload))?;
        Ok(self.observed(ns, message))
    }
}
