//! One permit taken for nobody in particular: at once, or after a wait under a lease that stands in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Node;
use crate::engine::acquire::{self, undecided};
use crate::engine::plain::acknowledged::ASKED_FOR;
use crate::engine::plain::proxy_lease::StandIn;
use crate::error::{Error, ErrorKind};
use crate::scripts::Outcome;
use crate::types::SemaphoreName;
use crate::wire::{AcquireOutcome, AcquireSemaphoreRequest, DownSemaphoreResponse};

/// Between two tries to give back what nobody heard of.
const UNDO_PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    node: &Arc<Node>,
    semaphore: &SemaphoreName,
    timeout_seconds: i64,
) -> Result<DownSemaphoreResponse, Error> {
    let deadline = Instant::now() + Duration::from_secs(timeout_seconds.unsigned_abs());
    let mut answer = at_once(node, semaphore).await?;
    while answer.outcome == AcquireOutcome::Unavailable && timeout_seconds > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            answer.outcome = AcquireOutcome::TimedOut;
        } else if let Some(waited) = wait(node, semaphore, left).await? {
            answer = waited;
        }
    }
    node.convoys.state(&semaphore.namespace, &answer.semaphore);
    Ok(answer)
}

async fn at_once(
    node: &Arc<Node>,
    semaphore: &SemaphoreName,
) -> Result<DownSemaphoreResponse, Error> {
    let SemaphoreName { namespace, name } = semaphore;
    let mut taken = Taken::by(node, semaphore, node.ticket());
    let heard = node.heard.take(semaphore);
    let asked = node.scripts.down(namespace, name, &taken.ticket, &heard).await;
    let reply = taken.settle(asked)?;
    let semaphore = reply.semaphore.unwrap_or_default();
    if reply.outcome != Outcome::Acquired {
        return Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Unavailable });
    }
    taken.forget();
    Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Acquired })
}

/// Waits in the queue; none where the lease that stood in has ended under it, and its place is lost.
async fn wait(
    node: &Arc<Node>,
    semaphore: &SemaphoreName,
    left: Duration,
) -> Result<Option<DownSemaphoreResponse>, Error> {
    let lease = StandIn::hire(node, &semaphore.namespace).await?;
    let request = AcquireSemaphoreRequest {
        namespace_name: semaphore.namespace.clone(),
        semaphore_name: semaphore.name.clone(),
        lease_id: lease.lease_id.clone(),
        weight: 1,
        timeout_seconds: whole_seconds(left),
        ..AcquireSemaphoreRequest::default()
    };
    let answer = match acquire::granted(node, &request).await {
        Ok(answer) if answer.outcome == AcquireOutcome::Acquired => {
            disown(node, semaphore, &lease).await
        }
        Ok(answer) => {
            let (semaphore, outcome) = (answer.semaphore, answer.outcome);
            return Ok(Some(DownSemaphoreResponse { semaphore, outcome }));
        }
        Err(_) if node.waits.closing() => {
            Err(Error::unavailable("this node shuts down: ask another"))
        }
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => {
            lease.serve_no_more();
            Ok(Some(answer))
        }
        Err(Error::LeaseNotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the lease holds is nobody's from now on.
async fn disown(
    node: &Arc<Node>,
    semaphore: &SemaphoreName,
    lease: &StandIn,
) -> Result<DownSemaphoreResponse, Error> {
    let SemaphoreName { namespace, name } = semaphore;
    let mut taken = Taken::by(node, semaphore, lease.lease_id.clone());
    let heard = node.heard.take(semaphore);
    let asked = node.scripts.disown(namespace, name, &taken.ticket, &heard).await;
    let semaphore = taken.settle(asked)?;
    taken.forget();
    Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Acquired })
}

/// A permit that may have been taken, though nobody has heard so. Dropped like that, it is given back.
struct Taken<'a> {
    node: &'a Arc<Node>,
    semaphore: &'a SemaphoreName,
    ticket: String,
    decided: bool,
}

impl<'a> Taken<'a> {
    fn by(node: &'a Arc<Node>, semaphore: &'a SemaphoreName, ticket: String) -> Self {
        Self { node, semaphore, ticket, decided: false }
    }

    fn settle<T>(&mut self, answer: Result<T, Error>) -> Result<T, Error> {
        // Refused for another reason, such as a full Redis, it may have been done by an earlier try.
        let missing = |error: &Error| error.kind() == ErrorKind::NotFound;
        self.decided = answer.as_ref().err().is_none_or(missing);
        answer
    }

    /// It is heard of.
    fn forget(mut self) {
        self.node.has_heard(self.semaphore, std::mem::take(&mut self.ticket));
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.decided {
            let (node, semaphore) = (Arc::clone(self.node), self.semaphore.clone());
            let ticket = std::mem::take(&mut self.ticket);
            self.node.errands.run(&self.node.runtime, give_back(node, semaphore, ticket));
        }
    }
}

async fn give_back(node: Arc<Node>, semaphore: SemaphoreName, taken_by: String) {
    let SemaphoreName { namespace, name } = &semaphore;
    let (ticket, began) = (node.ticket(), Instant::now());
    while began.elapsed() < ASKED_FOR {
        match node.scripts.undo_down(namespace, name, &ticket, &taken_by).await {
            Err(error) if undecided(&error) => {
                tracing::debug!(%error, "what a dropped down took is not given back yet");
                tokio::time::sleep(UNDO_PAUSE).await;
            }
            _ => return node.has_heard(&semaphore, ticket),
        }
    }
    tracing::warn!(namespace, name, taken_by, "what a dropped down took could not be given back");
}

fn whole_seconds(left: Duration) -> i64 {
    let part = i64::from(left.subsec_nanos() > 0);
    i64::try_from(left.as_secs()).unwrap_or(i64::MAX - 1) + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_shorter_than_what_is_left() {
        for (left, seconds) in [(1_000, 1), (1_001, 2), (1, 1), (59_999, 60)] {
            assert_eq!(whole_seconds(Duration::from_millis(left)), seconds);
        }
    }
}
