//! The reference model: what Grackle does, without Redis, a network or two things at once.
//!
//! Read [`Model`] for the operations, then [`Namespace`] (what has ended or is due), [`Semaphore`]
//! (the queue in `discipline`, holds without a lease in `ownerless`, and the hand-off), [`Hold`] and
//! [`Wait`].
#![allow(dead_code, unused_imports)]

mod acquire;
mod answer;
mod around;
mod discipline;
mod drain;
mod hold;
mod lease;
mod model;
mod namespace;
mod ownerless;
mod page;
mod semaphore;
mod shown;
mod tag;
mod wait;

pub(crate) use acquire::AcquireArguments;
pub(crate) use answer::{Answer, Fate, Outcome, Refused, Said, refused};
pub(crate) use around::{Around, Limits};
pub(crate) use drain::Drain;
pub(crate) use hold::{Grant, Hold, Stood};
pub(crate) use lease::Lease;
pub(crate) use model::{Model, WaitingCall};
pub(crate) use namespace::Namespace;
pub(crate) use ownerless::{OWNERLESS, Remembered};
pub(crate) use page::{From, Page};
pub(crate) use semaphore::{Queue, Semaphore};
pub(crate) use shown::{description, metadata};
pub(crate) use tag::Tag;
pub(crate) use wait::{Call, Wait};

/// Of a namespace, a semaphore, a lease, a process, a node; or the id of a request.
pub(crate) type Name = &'static str;
/// µs since the epoch, by Redis' clock, or a length of time.
pub(crate) type Micros = i64;
/// Stands for a description and metadata; 0 for none.
pub(crate) type Label = u8;

/// How long a node counts as alive after its last sign of life.
pub(crate) const ALIVE_FOR: Micros = 15_000_000;
/// How long after its deadline a call is kept for its node to end it.
pub(crate) const SLACK: Micros = 1_000_000;
/// How many grants a hold remembers; the oldest of them is for good.
pub(crate) const REMEMBERED: usize = 5;
/// How many calls of one lease wait on one semaphore at most.
pub(crate) const MAX_CALLS: usize = 64;
pub(crate) const MAX_PERMITS: i64 = (1 << 53) - 1;
/// What makes the place of a hold that grows smaller than any other.
pub(crate) const GROWING: f64 = (1_i64 << 52) as f64;

/// One call of one client, `<node>:<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket {
    pub(crate) node: Name,
    pub(crate) number: u32,
}
