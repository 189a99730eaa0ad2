//! The replies of scripts, and their messages: JSON that begins with a word for the outcome.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::wire::{Lease, Namespace, Semaphore, Waiting};

/// How an acquire ended, so far.
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

/// The reply to an acquire, or the message that a hand-off sends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AcquireReply {
    #[serde(rename = "result")]
    pub outcome: Outcome,
    pub semaphore: Option<Semaphore>,
    /// Why it was not granted, if the call asked for that.
    pub waiting: Option<Box<Waiting>>,
    #[serde(default)]
    pub fencing_token: i64,
    /// µs until something is due in the namespace, or -1.
    pub sweep_in: Option<i64>,
    /// `CODE text`, in a message only.
    pub error: Option<String>,
}

/// The reply of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SweepReply {
    /// µs until something is due in the namespace, or -1.
    pub sweep_in: i64,
    /// The calls that wait through the node, as Redis knows them.
    pub waiting: usize,
    /// The subscribers of the node's channel that Redis sees.
    pub subscribers: usize,
}

/// By how much messages and replies may overtake each other, in µs. What is older by more comes from a
/// Redis whose clock was set back.
pub(crate) const REORDER_WINDOW: i64 = 1_000_000;

/// The state of a watched semaphore: a script's reply, or a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WatchReply {
    /// The time of the state, in µs by Redis' clock.
    pub at: i64,
    /// Of a reply: µs until something is due in the namespace, or -1.
    pub sweep_in: Option<i64>,
    /// None where it is deleted.
    pub semaphore: Option<Semaphore>,
}

/// A message on a node's channel.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "it is read and gone; most are answers")]
pub enum Message {
    /// The answer to these calls.
    Answer { calls: Vec<String>, answer: AcquireReply },
    /// Something is due sooner than the node knows.
    Sweep { sweep_in: i64 },
}

/// What Redis knows of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "they are read and gone")]
pub enum CallState {
    /// It is waiting.
    Waiting,
    /// Nothing: it has to be sent again.
    Unknown,
    /// It was granted.
    Answered(AcquireReply),
}

impl CallState {
    pub(super) fn parse(reply: &str) -> Result<Self, Error> {
        match reply {
            "" => Ok(Self::Waiting),
            "lost" => Ok(Self::Unknown),
            answer => parse(answer).map(Self::Answered),
        }
    }
}

/// A reply or a message that may show the state of a semaphore.
pub(super) trait Shows {
    fn semaphore(&self) -> Option<&Semaphore>;
}

impl Shows for RecordReply {
    fn semaphore(&self) -> Option<&Semaphore> {
        self.semaphore.as_ref()
    }
}

impl Shows for AcquireReply {
    fn semaphore(&self) -> Option<&Semaphore> {
        self.semaphore.as_ref()
    }
}

impl Shows for WatchReply {
    fn semaphore(&self) -> Option<&Semaphore> {
        self.semaphore.as_ref()
    }
}

impl Shows for CallState {
    fn semaphore(&self) -> Option<&Semaphore> {
        match self {
            Self::Answered(reply) => reply.semaphore(),
            Self::Waiting | Self::Unknown => None,
        }
    }
}

impl Shows for Message {
    fn semaphore(&self) -> Option<&Semaphore> {
        match self {
            Self::Answer { answer, .. } => answer.semaphore(),
            Self::Sweep { .. } => None,
        }
    }
}

/// The script has to be called again.
pub(super) const AGAIN: &str = r#"{"result":"again"}"#;

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Internal {
        reason: format!("a script answered {text:.200}"),
        source: Some(Box::new(error)),
    })
}
