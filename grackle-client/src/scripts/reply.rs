//! What the scripts answer: JSON that begins with a word for the outcome.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::wire::{Lease, Namespace, Semaphore, Waiting};

/// What became of an acquire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Acquired,
    Unavailable,
    Waiting,
    TimedOut,
    Error,
}

/// A reply with a record in it.
#[derive(Debug, Deserialize)]
pub(super) struct RecordReply {
    pub(super) namespace: Option<Namespace>,
    pub(super) semaphore: Option<Semaphore>,
    pub(super) lease: Option<Lease>,
}

/// What becomes of an acquire: a script's reply, or the message that a hand-off sends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AcquireReply {
    #[serde(rename = "result")]
    pub outcome: Outcome,
    pub semaphore: Option<Semaphore>,
    /// Why it was not granted, where that was asked for.
    pub waiting: Option<Box<Waiting>>,
    #[serde(default)]
    pub fencing_token: i64,
    /// µs until something is due in the namespace, or -1.
    pub sweep_in: Option<i64>,
    /// `CODE text`, in a message only.
    pub error: Option<String>,
}

/// What a sweep saw.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SweepReply {
    /// µs until something is due in the namespace, or -1.
    pub sweep_in: i64,
    /// Calls that wait through the node, as Redis knows them.
    pub waiting: usize,
    /// Subscriptions to the node's channel that Redis sees.
    #[serde(rename = "heard")]
    pub subscribers: usize,
}

/// Messages and replies may overtake each other by that much, in µs. What is older by more is of a
/// Redis whose clock was set back.
pub(crate) const REORDER_WINDOW: i64 = 1_000_000;

/// What a semaphore that is watched shows: a script's reply, or a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WatchReply {
    /// When, in µs by Redis' clock.
    pub at: i64,
    /// In a reply: when something is due in the namespace, in µs from then; -1: nothing is.
    pub sweep_in: Option<i64>,
    /// None where it is deleted.
    pub semaphore: Option<Semaphore>,
}

/// One message on a node's channel.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "it is read and gone; most are answers")]
pub enum Message {
    /// These calls are answered.
    Answer { calls: Vec<String>, answer: AcquireReply },
    /// Something is due sooner than was said before.
    Sweep { sweep_in: i64 },
}

pub(crate) const AGAIN: &str = r#"{"result":"again"}"#;

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Internal {
        reason: format!("a script answered {text:.200}"),
        source: Some(Box::new(error)),
    })
}
