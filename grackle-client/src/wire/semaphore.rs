use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Convoy, Metadata, Page, Waiting, int64};

/// A named counter that limits how many permits are held at once.
///
/// `active_holds ≤ permits`, always; a holder whose lease has expired is never counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Semaphore {
    /// 1–128 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// At most 1,024 bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The total capacity, 1 … 2^53 − 1.
    pub permits: i64,
    /// Sum of the holders' weights.
    pub active_holds: i64,
    /// Number of holders.
    pub active_holders_count: i64,
    /// Number of waiters in the queue whose nodes listen.
    pub waiting_count: i64,
    /// Sum of those waiters' weights, shown up to 2^53 − 1.
    pub waiting_weight: i64,
    /// Who of those that wait is next.
    pub queue_discipline: QueueDiscipline,
    /// How many may wait, where the semaphore has a bound of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_waiters: Option<i64>,
    /// Labels set at creation and replaced by an update.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// 1 at creation, one more with every update.
    pub version: i64,
    /// Nanoseconds since the epoch.
    pub created_at: i64,
    /// Nanoseconds since the epoch; equals `created_at` until the first update.
    pub updated_at: i64,
    /// Nanoseconds since the epoch of the last acquire (held or not) or release.
    pub last_activity_at: i64,
}

/// A lease's hold on a semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holder {
    /// The lease that owns the hold; `ownerless`: that of all downs together, which no lease ends.
    pub lease_id: String,
    /// Permits held.
    pub weight: i64,
    /// Nanoseconds since the epoch of the last grant to this lease.
    pub locked_at: i64,
    /// Grows from hold to hold of one semaphore, and stays while the hold lives.
    pub fencing_token: i64,
    /// Labels given with the acquire.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// Asks for a new semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CreateSemaphoreRequest {
    /// An existing namespace.
    pub namespace_name: String,
    /// 1–128 of `A-Z a-z 0-9 _ -`; unused so far.
    pub semaphore_name: String,
    /// At most 1,024 bytes.
    pub description: String,
    /// The total capacity, 1 … 2^53 − 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub permits: i64,
    /// Who of those that wait is next; unspecified means first come, first served.
    #[serde(deserialize_with = "word")]
    pub queue_discipline: QueueDiscipline,
    /// How many may wait, 0 … 2^53 − 1, beside the limit that is set for all semaphores; 0 means no
    /// bound of its own. Whoever comes then is refused at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub max_waiters: i64,
    /// At most 32 entries.
    pub metadata: Metadata,
}

/// Asks for one semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GetSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
}

/// Replaces description, permits and metadata, whole; the queue's discipline and bound where they are
/// named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpdateSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// At most 1,024 bytes; empty removes it.
    pub description: String,
    /// The total capacity, at least `active_holds`. Raising it admits waiters at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub permits: i64,
    /// Unspecified keeps it. Another one re-orders at once all who wait.
    #[serde(deserialize_with = "word")]
    pub queue_discipline: QueueDiscipline,
    /// How many may wait, 0 … 2^53 − 1: none keeps it, 0 removes it. Those who wait already stay.
    #[serde(deserialize_with = "int64::option", skip_serializing_if = "Option::is_none")]
    pub max_waiters: Option<i64>,
    /// At most 32 entries; empty removes them.
    pub metadata: Metadata,
    /// The version that the caller has seen, at least 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub expected_version: i64,
}

/// Removes a semaphore; its holders are dropped and its waiters told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeleteSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore; a missing one is no error.
    pub semaphore_name: String,
}

/// Asks for a page of semaphores, in name order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoresRequest {
    /// The namespace.
    pub namespace_name: String,
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// Asks for `weight` permits under a lease, all or none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AcquireSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// The lease that will own the hold.
    pub lease_id: String,
    /// Permits wanted, 1 … 2^53 − 1.
    #[serde(deserialize_with = "int64::deserialize")]
    pub weight: i64,
    /// How long to wait, in seconds, 0 … 3,600 by default; 0 answers at once.
    #[serde(deserialize_with = "int64::deserialize")]
    pub timeout_seconds: i64,
    /// What its process gets of the permits beside others that wait too, 1 … 1,000; 0 means 1. It
    /// counts where the discipline is [`QueueDiscipline::Weighted`].
    #[serde(deserialize_with = "int64::deserialize")]
    pub share: i64,
    /// At most 32 entries, shown with the holder.
    pub metadata: Metadata,
    /// Is an answer that it was not granted to say why, in
    /// [`waiting`](AcquireSemaphoreResponse::waiting)? It costs Redis a little more; where it is not
    /// asked for, nothing.
    pub explain: bool,
}

/// Gives up a lease's hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReleaseSemaphoreRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// The lease that owns the hold; where it holds nothing, nothing happens.
    pub lease_id: String,
}

/// Asks for a page of holders, by `locked_at`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListSemaphoreHoldersRequest {
    /// Its namespace.
    pub namespace_name: String,
    /// The semaphore.
    pub semaphore_name: String,
    /// Entries a page, 1–250; 0 means 100.
    #[serde(deserialize_with = "int64::deserialize")]
    pub limit: i64,
    /// A token of an earlier page, or empty for the first.
    pub pagination_token: String,
}

/// As a text, so that anything else is told apart from what is no JSON at all.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QueueDiscipline, D::Error> {
    let text = String::deserialize(deserializer)?;
    QueueDiscipline::deserialize(text.into_deserializer())
}

/// In which order those who wait for permits are admitted. Whatever the order, a head that does not
/// fit holds up all behind it, and a hold that grows goes ahead of those who hold nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum QueueDiscipline {
    /// What an unset field reads as; no semaphore has it.
    #[default]
    #[serde(rename = "QUEUE_DISCIPLINE_UNSPECIFIED")]
    Unspecified,
    /// First come, first served, also with weights: nobody overtakes, nobody starves.
    #[serde(rename = "QUEUE_DISCIPLINE_FIFO")]
    Fifo,
    /// Last come, first served. It starves: whoever came first waits for as long as others keep
    /// coming.
    #[serde(rename = "QUEUE_DISCIPLINE_LIFO")]
    Lifo,
    /// Each process that waits gets permits by its [`share`](AcquireSemaphoreRequest::share), however
    /// many waiters the others have; among its own, first come, first served.
    ///
    /// Self-clocked fair queueing: for two processes *i*, *j* that both wait all the time, the weights
    /// *W* admitted meanwhile, the shares *s* and the heaviest weights *L* keep
    /// `|Wi/si − Wj/sj| ≤ Li/si + Lj/sj`, and `≤ max(Li/si, Lj/sj)` where both have waited since nobody did.
    /// A process that did not wait has no credit from that time.
    #[serde(rename = "QUEUE_DISCIPLINE_WEIGHTED")]
    Weighted,
}

/// How an acquire ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AcquireOutcome {
    /// Never answered; what an unset field reads as.
    #[default]
    #[serde(rename = "ACQUIRE_OUTCOME_UNSPECIFIED")]
    Unspecified,
    /// The lease holds the permits.
    #[serde(rename = "ACQUIRE_OUTCOME_ACQUIRED")]
    Acquired,
    /// Not free, and the call was not to wait.
    #[serde(rename = "ACQUIRE_OUTCOME_UNAVAILABLE")]
    Unavailable,
    /// Not granted within the timeout.
    #[serde(rename = "ACQUIRE_OUTCOME_TIMED_OUT")]
    TimedOut,
}

/// How an acquire ended, and the semaphore as it was then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[must_use = "an acquire that did not end in `Acquired` holds nothing"]
pub struct AcquireSemaphoreResponse {
    /// The state right after the decision.
    pub semaphore: Semaphore,
    /// What was decided.
    pub outcome: AcquireOutcome,
    /// The hold's token; 0 unless acquired.
    pub fencing_token: i64,
    /// How many replicas are known to have the hold: only where it was acquired and
    /// [`Config::replica_acks`](crate::Config::replica_acks) is set.
    ///
    /// Fewer than were asked for is no failure: the lease holds the permits, but a failover may
    /// forget that. The caller decides whether to go on or to release. More than were asked for may
    /// be counted too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acked_replicas: Option<i64>,
    /// Why it was not granted: only where it was not, and
    /// [`explain`](AcquireSemaphoreRequest::explain) was asked for.
    ///
    /// Of a call that was not to wait, the place that it would have had; of one that timed out, the
    /// place that it had when it gave up. (Where the wait had ended a moment before that, as a
    /// deadline and a hand-off met, it is the place that it would get now.)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// A semaphore.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemaphoreResponse {
    /// Its record.
    pub semaphore: Semaphore,
}

/// A semaphore, and what the node that answers has seen of its queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetSemaphoreResponse {
    /// Its record.
    pub semaphore: Semaphore,
    /// Where this node sees a convoy there; another may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convoy: Option<Convoy>,
}

/// A page of semaphores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSemaphoresResponse {
    /// In name order.
    pub semaphores: Vec<Semaphore>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}

/// A page of holders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSemaphoreHoldersResponse {
    /// By `locked_at`, then by lease id.
    pub holders: Vec<Holder>,
    /// Tokens of the pages around this one.
    #[serde(flatten)]
    pub page: Page,
}
