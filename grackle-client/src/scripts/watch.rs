//! Watching a semaphore.

use super::reply::{WatchReply, parse};
use super::runner::Scripts;
use crate::error::Error;

impl Scripts {
    /// Marks the semaphore as watched, for a time; returns its present state.
    pub async fn watch(&self, ns: &str, name: &str) -> Result<WatchReply, Error> {
        let mut call = self.on(&self.table.watch, ns);
        self.reply(call.arg(name)).await
    }

    /// Reads a message on the channel of a watched semaphore.
    pub(crate) fn watch_message(&self, ns: &str, payload: &[u8]) -> Result<WatchReply, Error> {
        let message = parse(&String::from_utf8_lossy(payload))?;
        Ok(self.observed(ns, message))
    }
}
