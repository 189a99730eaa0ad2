//! One acquire: sends it, waits for the answer or the deadline, and takes it back when it is dropped.

use std::time::{Duration, Instant};

use crate::engine::acquire::acquirer::Acquirer;
use crate::engine::waiters::{Answer, AnswerReceiver};
use crate::error::Error;
use crate::scripts::{AcquireArguments, AcquireReply, Call, Outcome};
use crate::wire::{AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse};

/// Acquires; then waits for replicas, where that is configured.
pub(crate) async fn acquire(
    acquirer: &Acquirer,
    request: &AcquireSemaphoreRequest,
) -> Result<AcquireSemaphoreResponse, Error> {
    let mut pending = Pending::new(acquirer, request);
    let reply = pending.decided(request).await?;
    let acked_replicas = pending.acked(&reply).await;
    let response = response(reply, request.timeout_seconds > 0)?;
    Ok(AcquireSemaphoreResponse { acked_replicas, ..response })
}

/// Acquires without waiting for replicas.
pub(crate) async fn acquire_unacked(
    acquirer: &Acquirer,
    request: &AcquireSemaphoreRequest,
) -> Result<AcquireSemaphoreResponse, Error> {
    let reply = Pending::new(acquirer, request).decided(request).await?;
    response(reply, request.timeout_seconds > 0)
}

/// An acquire whose answer is not known yet. Dropped in that state, it is taken back.
struct Pending<'a> {
    acquirer: &'a Acquirer,
    namespace: &'a str,
    call: Call,
    timeout: Duration,
    began: Instant,
    deadline: Instant,
    /// Redis queued it.
    waited: bool,
    /// Its outcome is known.
    ended: bool,
}

impl<'a> Pending<'a> {
    fn new(acquirer: &'a Acquirer, request: &'a AcquireSemaphoreRequest) -> Self {
        let call = Call {
            lease_id: request.lease_id.clone(),
            semaphore: request.semaphore_name.clone(),
            ticket: acquirer.tickets.next(),
        };
        let timeout = Duration::from_secs(request.timeout_seconds.unsigned_abs());
        let (namespace, began) = (request.namespace_name.as_str(), Instant::now());
        let deadline = began + timeout;
        Self { acquirer, namespace, call, timeout, began, deadline, waited: false, ended: false }
    }

    /// Waits for the outcome; notes how long a granted call has waited.
    async fn decided(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        let reply = if self.timeout.is_zero() {
            self.try_once(request).await?
        } else {
            self.wait(request).await?
        };
        if self.waited && reply.outcome == Outcome::Acquired {
            let (name, waited) = (&request.semaphore_name, self.began.elapsed());
            self.acquirer.load.observe_grant(self.namespace, name, waited, request.weight);
        }
        Ok(reply)
    }

    async fn try_once(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        let reply = self.send(request, Duration::ZERO, None).await;
        self.settle(reply)
    }

    async fn wait(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        let mut left = self.timeout;
        loop {
            let waiters = &self.acquirer.waiters;
            let added = waiters.add(self.namespace, &self.call, self.began, self.deadline);
            let receiver = added.inspect_err(|_| self.ended = true)?;
            let subscription = waiters.subscription(self.namespace);
            let reply = self.send(request, left, subscription).await;
            let reply = self.settle(reply)?;
            if reply.outcome != Outcome::Waiting {
                return Ok(reply);
            }
            (self.ended, self.waited) = (false, true);
            self.queued(reply.sweep_in, subscription).await?;
            match self.receive(receiver).await {
                Some(Answer::Reply(reply)) => return self.settle(Ok(*reply)),
                Some(Answer::Failed(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                Some(Answer::AskAgain) => left = self.left(),
                None => return self.time_out(request).await,
            }
        }
    }

    /// The time is over: Redis decides whether the call was granted or timed out.
    async fn time_out(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        let explain = request.explain.then_some((request.weight, share(request)));
        let scripts = &self.acquirer.scripts;
        let decided = scripts.time_out(self.namespace, &self.call, explain).await;
        self.settle(decided)
    }

    /// How many replicas have what was granted, where that is configured. Until then the caller does
    /// not know of the grant: a call that is dropped meanwhile is taken back.
    async fn acked(&mut self, reply: &AcquireReply) -> Option<i64> {
        let replica_acks = self.acquirer.replica_acks.as_ref()?;
        if reply.outcome != Outcome::Acquired {
            return None;
        }
        self.ended = false;
        let acked = replica_acks.count(self.namespace, &self.call).await;
        self.ended = true;
        Some(acked)
    }

    /// What Redis decided ends the call. Where Redis did not answer, the outcome stays open.
    fn settle(&mut self, reply: Result<AcquireReply, Error>) -> Result<AcquireReply, Error> {
        self.ended = !reply.as_ref().is_err_and(Error::leaves_outcome_open);
        reply
    }

    async fn send(
        &self,
        request: &AcquireSemaphoreRequest,
        timeout: Duration,
        subscription: Option<u64>,
    ) -> Result<AcquireReply, Error> {
        let AcquireSemaphoreRequest { weight, ref metadata, explain, .. } = *request;
        let (share, listening) = (share(request), subscription.is_some());
        let arguments = AcquireArguments { weight, share, metadata, timeout, listening, explain };
        self.acquirer.scripts.acquire(self.namespace, &self.call, arguments).await
    }

    /// Redis has queued the call. Where the client shuts down meanwhile, the call is parked at once.
    async fn queued(
        &mut self,
        sweep_in: Option<i64>,
        subscription: Option<u64>,
    ) -> Result<(), Error> {
        let Acquirer { scripts, waiters, .. } = self.acquirer;
        let queued = self.acquirer.queued(self.namespace, &self.call, sweep_in, subscription);
        if queued.is_err() && waiters.is_closing() {
            scripts.park(self.namespace, true, &[(self.call.clone(), self.left())]).await?;
            self.ended = true;
        }
        queued
    }

    /// The answer; none by the deadline.
    async fn receive(&self, receiver: AnswerReceiver) -> Option<Answer> {
        tokio::select! {
            biased;
            // The sender is dropped unused only with the whole map.
            answer = receiver => answer.ok(),
            () = tokio::time::sleep_until(self.deadline.into()) => None,
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.timeout.is_zero() {
            self.acquirer.waiters.remove(self.namespace, &self.call.ticket);
        }
        if !self.ended {
            let (namespace, call) = (self.namespace.to_owned(), self.call.clone());
            self.acquirer.take_back(namespace, call, self.left());
        }
    }
}

/// 0 means 1.
fn share(request: &AcquireSemaphoreRequest) -> i64 {
    request.share.max(1)
}

fn response(reply: AcquireReply, may_wait: bool) -> Result<AcquireSemaphoreResponse, Error> {
    let outcome = match reply.outcome {
        Outcome::Acquired => AcquireOutcome::Acquired,
        // A call that was sent again with no time left has timed out.
        Outcome::Unavailable if may_wait => AcquireOutcome::TimedOut,
        Outcome::Unavailable => AcquireOutcome::Unavailable,
        Outcome::TimedOut => AcquireOutcome::TimedOut,
        outcome @ (Outcome::Waiting | Outcome::Error) => {
            return Err(Error::internal(format!("an acquire can't end in {outcome:?}")));
        }
    };
    let AcquireReply { semaphore, fencing_token, waiting, .. } = reply;
    let (semaphore, waiting) = (semaphore.unwrap_or_default(), waiting.map(|waiting| *waiting));
    Ok(AcquireSemaphoreResponse {
        semaphore,
        outcome,
        fencing_token,
        waiting,
        ..Default::default()
    })
}
