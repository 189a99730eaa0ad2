//! Sweeping, and the messages to nodes that wait.

use super::reply::{Message, SweepReply, parse};
use super::runner::Scripts;
use crate::error::Error;

impl Scripts {
    /// Ends what is due in a namespace; returns when the next is.
    pub async fn sweep(&self, ns: &str, node: &str) -> Result<SweepReply, Error> {
        let mut call = self.on(&self.table.sweep, ns);
        parse(&self.text(call.arg(node)).await?)
    }

    /// Reads a message on a node's channel.
    pub(crate) fn message(&self, ns: &str, payload: &[u8]) -> Result<Message, Error> {
        let message = parse(&String::from_utf8_lossy(payload))?;
        Ok(self.observed(ns, message))
    }
}
