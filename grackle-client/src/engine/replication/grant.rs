//! A grant whose caller waits for replicas to have it.

use tokio::sync::watch;
use tokio::time::Instant;

use crate::scripts::Call;

pub(crate) struct Grant {
    pub(crate) namespace: String,
    pub(crate) call: Call,
    pub(crate) deadline: Instant,
    /// How many replicas are known to have it.
    pub(crate) acked: watch::Sender<i64>,
}

impl Grant {
    /// Does its caller still wait?
    pub(crate) fn is_open(&self) -> bool {
        !self.acked.is_closed() && Instant::now() < self.deadline
    }

    /// So many replicas have it.
    pub(crate) fn ack(&self, replicas: i64) {
        self.acked.send_if_modified(|known| {
            let more = replicas > *known;
            *known = replicas.max(*known);
            more
        });
    }
}
