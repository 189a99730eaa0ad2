//! A convoy, as GetSemaphore shows it.

use serde::{Deserialize, Serialize};

/// A queue that does not drain: for a minute at least it was never seen empty, and the waits in it
/// grew.
///
/// Precisely: for a minute the queue was not seen empty, and in each quarter of it (15 s) somebody was
/// seen to wait; the longest wait seen in a quarter is nowhere shorter than in the one before,
/// and in the last at least half as long again as in the first. (That the permits are full goes without
/// saying: while somebody waits, the head of the queue does not fit.) It is over when the queue is seen
/// empty, when the waits of a minute have not grown, or when nobody was seen to wait for 20 s.
///
/// It is what one node sees: of the states in the answers and messages that reach it, and of the waits
/// of its own callers. Another node may see none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Convoy {
    /// Seconds since it began; 60 at least.
    pub for_seconds: i64,
    /// Seconds of the longest wait, so far or until its grant, that the node saw in the last 20 s.
    pub wait_seconds: i64,
}
