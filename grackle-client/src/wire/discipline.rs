//! The queue disciplines.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

/// The order in which waiters are admitted.
///
/// In each, a waiter at the head that does not fit blocks the queue, and a hold that grows goes ahead of
/// waiters that hold nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum QueueDiscipline {
    /// Unset: FIFO on create, unchanged on update. No semaphore has it.
    #[default]
    #[serde(rename = "QUEUE_DISCIPLINE_UNSPECIFIED")]
    Unspecified,
    /// First come, first served, whatever the weights: nobody overtakes, nobody starves.
    #[serde(rename = "QUEUE_DISCIPLINE_FIFO")]
    Fifo,
    /// Last come, first served. The first waiter starves for as long as others keep coming.
    #[serde(rename = "QUEUE_DISCIPLINE_LIFO")]
    Lifo,
    /// Each waiting process gets permits by its share, however many waiters the others have. Within a
    /// process, first come, first served.
    ///
    /// Self-clocked fair queueing: for two processes *i*, *j* that both wait all the time, the weights
    /// *W* admitted meanwhile, the shares *s* and the heaviest weights *L* keep
    /// `|Wi/si − Wj/sj| ≤ Li/si + Lj/sj`, and `≤ max(Li/si, Lj/sj)` where both have waited since nobody did.
    /// A process that did not wait has no credit from that time.
    #[serde(rename = "QUEUE_DISCIPLINE_WEIGHTED")]
    Weighted,
}

/// Read as a text first, so that a wrong type is told apart from JSON that is not valid.
pub(super) fn from_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<QueueDiscipline, D::Error> {
    let text = String::deserialize(deserializer)?;
    QueueDiscipline::deserialize(text.into_deserializer())
}
