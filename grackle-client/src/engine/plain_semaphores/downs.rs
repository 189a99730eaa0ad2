//! Takes one permit that no lease owns: at once, or after a wait under a proxy lease.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::MAX_RETRY_FOR;
use crate::engine::acquire::{Acquirer, acquire_unacked};
use crate::engine::cleanup::CleanupTasks;
use crate::engine::plain_semaphores::acknowledged_tickets::AcknowledgedTickets;
use crate::engine::plain_semaphores::proxy_leases::{ProxyLease, ProxyLeases};
use crate::engine::tickets::Tickets;
use crate::engine::waiters::Waiters;
use crate::error::{Error, ErrorKind};
use crate::scripts::{Outcome, Scripts};
use crate::types::SemaphoreName;
use crate::wire::{AcquireOutcome, AcquireSemaphoreRequest, DownSemaphoreResponse};

/// Between two tries to give a permit back.
const UNDO_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Downs {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) acquirer: Arc<Acquirer>,
    pub(crate) proxy_leases: Arc<ProxyLeases>,
    pub(crate) acknowledged: Arc<AcknowledgedTickets>,
    pub(crate) cleanup: CleanupTasks,
}

impl Downs {
    pub(crate) async fn down(
        &self,
        semaphore: &SemaphoreName,
        timeout_seconds: i64,
    ) -> Result<DownSemaphoreResponse, Error> {
        let deadline = Instant::now() + Duration::from_secs(timeout_seconds.unsigned_abs());
        let mut answer = self.try_once(semaphore).await?;
        while answer.outcome == AcquireOutcome::Unavailable && timeout_seconds > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                answer.outcome = AcquireOutcome::TimedOut;
            } else if let Some(waited) = self.wait(semaphore, left).await? {
                answer = waited;
            }
        }
        Ok(answer)
    }

    async fn try_once(&self, semaphore: &SemaphoreName) -> Result<DownSemaphoreResponse, Error> {
        let SemaphoreName { namespace, name } = semaphore;
        let mut taken = Taken::new(self, semaphore, self.tickets.next());
        let acknowledged = self.acknowledged.take(semaphore);
        let reply = self.scripts.down(namespace, name, &taken.ticket, &acknowledged).await;
        let reply = taken.settle(reply)?;
        let semaphore = reply.semaphore.unwrap_or_default();
        if reply.outcome != Outcome::Acquired {
            return Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Unavailable });
        }
        taken.acknowledge();
        Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Acquired })
    }

    /// Waits in the queue. None where the proxy lease has ended meanwhile, and its place is lost.
    async fn wait(
        &self,
        semaphore: &SemaphoreName,
        left: Duration,
    ) -> Result<Option<DownSemaphoreResponse>, Error> {
        let lease = ProxyLease::create(&self.proxy_leases, &semaphore.namespace).await?;
        let request = acquire_request(semaphore, &lease, left);
        let answer = match acquire_unacked(&self.acquirer, &request).await {
            Ok(answer) if answer.outcome == AcquireOutcome::Acquired => {
                self.disown(semaphore, &lease).await
            }
            Ok(answer) => {
                let (semaphore, outcome) = (answer.semaphore, answer.outcome);
                return Ok(Some(DownSemaphoreResponse { semaphore, outcome }));
            }
            Err(_) if self.waiters.is_closing() => Err(shutting_down()),
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => {
                lease.ended();
                Ok(Some(answer))
            }
            Err(Error::LeaseNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes what the lease holds an ownerless hold; the lease ends with it.
    async fn disown(
        &self,
        semaphore: &SemaphoreName,
        lease: &ProxyLease,
    ) -> Result<DownSemaphoreResponse, Error> {
        let SemaphoreName { namespace, name } = semaphore;
        let mut taken = Taken::new(self, semaphore, lease.lease_id.clone());
        let acknowledged = self.acknowledged.take(semaphore);
        let state = self.scripts.disown(namespace, name, &taken.ticket, &acknowledged).await;
        let semaphore = taken.settle(state)?;
        taken.acknowledge();
        Ok(DownSemaphoreResponse { semaphore, outcome: AcquireOutcome::Acquired })
    }
}

fn acquire_request(
    semaphore: &SemaphoreName,
    lease: &ProxyLease,
    timeout: Duration,
) -> AcquireSemaphoreRequest {
    AcquireSemaphoreRequest {
        namespace_name: semaphore.namespace.clone(),
        semaphore_name: semaphore.name.clone(),
        lease_id: lease.lease_id.clone(),
        weight: 1,
        timeout_seconds: whole_seconds(timeout),
        ..AcquireSemaphoreRequest::default()
    }
}

/// A permit that may have been taken, unknown to its caller. Dropped in that state, it is given back.
struct Taken<'a> {
    downs: &'a Downs,
    semaphore: &'a SemaphoreName,
    ticket: String,
    decided: bool,
}

impl<'a> Taken<'a> {
    fn new(downs: &'a Downs, semaphore: &'a SemaphoreName, ticket: String) -> Self {
        Self { downs, semaphore, ticket, decided: false }
    }

    fn settle<T>(&mut self, answer: Result<T, Error>) -> Result<T, Error> {
        // After any other refusal, such as by a full Redis, an earlier try may have taken it.
        let missing = |error: &Error| error.kind() == ErrorKind::NotFound;
        self.decided = answer.as_ref().err().is_none_or(missing);
        answer
    }

    /// The caller learns of it.
    fn acknowledge(mut self) {
        self.downs.acknowledged.add(self.semaphore, std::mem::take(&mut self.ticket));
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.decided {
            let Downs { scripts, tickets, acknowledged, cleanup, .. } = self.downs;
            let undo = Undo {
                scripts: Arc::clone(scripts),
                acknowledged: Arc::clone(acknowledged),
                semaphore: self.semaphore.clone(),
                taken_by: std::mem::take(&mut self.ticket),
                ticket: tickets.next(),
            };
            cleanup.spawn(undo.run());
        }
    }
}

/// Gives back what a dropped down has taken.
struct Undo {
    scripts: Arc<Scripts>,
    acknowledged: Arc<AcknowledgedTickets>,
    semaphore: SemaphoreName,
    taken_by: String,
    ticket: String,
}

impl Undo {
    async fn run(self) {
        let (SemaphoreName { namespace, name }, began) = (&self.semaphore, Instant::now());
        while began.elapsed() < MAX_RETRY_FOR {
            let undone = self.scripts.undo_down(namespace, name, &self.ticket, &self.taken_by);
            match undone.await {
                Err(error) if error.leaves_outcome_open() => {
                    tracing::debug!(%error, namespace, semaphore = name, "could not give a dropped down's permit back; retrying");
                    tokio::time::sleep(UNDO_PAUSE).await;
                }
                _ => return self.acknowledged.add(&self.semaphore, self.ticket),
            }
        }
        let taken_by = self.taken_by;
        tracing::warn!(
            namespace,
            semaphore = name,
            taken_by,
            "could not give a dropped down's permit back: if it took one, call up once"
        );
    }
}

fn shutting_down() -> Error {
    Error::unavailable("this node shuts down: ask another")
}

fn whole_seconds(left: Duration) -> i64 {
    let part = i64::from(left.subsec_nanos() > 0);
    i64::try_from(left.as_secs()).unwrap_or(i64::MAX - 1) + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_shorter_than_the_time_left() {
        for (left, seconds) in [(1_000, 1), (1_001, 2), (1, 1), (59_999, 60)] {
            assert_eq!(whole_seconds(Duration::from_millis(left)), seconds, "{left} ms");
        }
    }
}
