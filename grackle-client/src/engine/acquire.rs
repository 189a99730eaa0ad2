//! The wait of one acquire: ask, wait for the answer or the timeout, leave cleanly when dropped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::OnDrop;
use crate::engine::Node;
use crate::engine::waiters::{Answer, Answered};
use crate::error::{Error, ErrorKind};
use crate::scripts::{AcquireArguments, AcquireReply, Call, Outcome};
use crate::wire::{AcquireOutcome, AcquireSemaphoreRequest, AcquireSemaphoreResponse};

/// How often, and how far apart, a call that nobody waits for any more is taken back.
const CANCEL_TRIES: u32 = 60;
const CANCEL_PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    node: &Arc<Node>,
    request: &AcquireSemaphoreRequest,
) -> Result<AcquireSemaphoreResponse, Error> {
    let mut pending = Pending::new(node, request);
    let reply = pending.decided(request).await?;
    let acked = pending.acked(&reply).await;
    let response = response(reply, request.timeout_seconds > 0);
    Ok(AcquireSemaphoreResponse { acked_replicas: acked, ..response })
}

/// The same of a grant that is not to wait for replicas.
pub(crate) async fn granted(
    node: &Arc<Node>,
    request: &AcquireSemaphoreRequest,
) -> Result<AcquireSemaphoreResponse, Error> {
    let reply = Pending::new(node, request).decided(request).await?;
    Ok(response(reply, request.timeout_seconds > 0))
}

/// An acquire whose answer is not known yet. Dropped like that, it is taken back.
struct Pending<'a> {
    node: &'a Arc<Node>,
    namespace: &'a str,
    call: Call,
    timeout: Duration,
    began: Instant,
    deadline: Instant,
    /// Redis had it wait.
    waited: bool,
    ended: bool,
}

impl<'a> Pending<'a> {
    fn new(node: &'a Arc<Node>, request: &'a AcquireSemaphoreRequest) -> Self {
        let call = Call {
            lease_id: request.lease_id.clone(),
            semaphore: request.semaphore_name.clone(),
            ticket: node.ticket(),
        };
        let timeout = Duration::from_secs(request.timeout_seconds.unsigned_abs());
        let (namespace, began) = (request.namespace_name.as_str(), Instant::now());
        let deadline = began + timeout;
        Self { node, namespace, call, timeout, began, deadline, waited: false, ended: false }
    }

    async fn wait(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        if self.timeout.is_zero() {
            let asked = self.ask(request, Duration::ZERO, None).await;
            return self.settle(self.seen(asked));
        }
        let mut left = self.timeout;
        loop {
            let entered =
                self.node.waits.enter(self.namespace, &self.call, self.began, self.deadline);
            let answered = entered.inspect_err(|_| self.ended = true)?;
            let heard_by = self.node.waits.heard_by(self.namespace);
            let asked = self.ask(request, left, heard_by).await;
            let reply = self.settle(self.seen(asked))?;
            if reply.outcome != Outcome::Waiting {
                return Ok(reply);
            }
            self.ended = false;
            self.waited = true;
            self.queued(reply.sweep_in, heard_by).await?;
            match self.listen(answered).await {
                Some(Answer::Reply(reply)) => return self.settle(Ok(*reply)),
                Some(Answer::Failed(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                Some(Answer::AskAgain) => left = self.left(),
                None => {
                    let (scripts, explain) = (&self.node.scripts, explained(request));
                    let decided = scripts.give_up(self.namespace, &self.call, explain).await;
                    return self.settle(self.seen(decided));
                }
            }
        }
    }

    /// Waits, and notes for how long where it was granted.
    async fn decided(&mut self, request: &AcquireSemaphoreRequest) -> Result<AcquireReply, Error> {
        let reply = self.wait(request).await?;
        if self.waited && reply.outcome == Outcome::Acquired {
            let (name, waited) = (&request.semaphore_name, self.began.elapsed());
            self.node.convoys.granted(self.namespace, name, waited, request.weight);
        }
        Ok(reply)
    }

    fn seen(&self, reply: Result<AcquireReply, Error>) -> Result<AcquireReply, Error> {
        reply.inspect(|reply| self.node.saw(self.namespace, reply))
    }

    /// How many replicas have what was granted, where that is asked for. Until it is answered the
    /// caller does not know of the grant: dropped meanwhile, the call is taken back.
    async fn acked(&mut self, reply: &AcquireReply) -> Option<i64> {
        let acks = self.node.acks.as_ref()?;
        if reply.outcome != Outcome::Acquired {
            return None;
        }
        self.ended = false;
        let acked = acks.count(self.node, self.namespace, &self.call).await;
        self.ended = true;
        Some(acked)
    }

    /// What Redis decided ends the call; where it could not be asked, the outcome is not known.
    fn settle(&mut self, reply: Result<AcquireReply, Error>) -> Result<AcquireReply, Error> {
        self.ended = !reply.as_ref().is_err_and(undecided);
        reply
    }

    async fn ask(
        &self,
        request: &AcquireSemaphoreRequest,
        timeout: Duration,
        heard_by: Option<u64>,
    ) -> Result<AcquireReply, Error> {
        let listening = heard_by.is_some();
        let AcquireSemaphoreRequest { weight, ref metadata, explain, .. } = *request;
        let share = share(request);
        let wanted = AcquireArguments { weight, share, metadata, timeout, listening, explain };
        self.node.scripts.acquire(self.namespace, &self.call, wanted).await
    }

    /// The call stands in Redis. On a node that shuts down meanwhile it is set aside at once.
    async fn queued(&mut self, sweep_in: Option<i64>, heard_by: Option<u64>) -> Result<(), Error> {
        let (node, namespace) = (self.node, self.namespace);
        let queued = node.queued(namespace, &self.call, sweep_in, heard_by);
        if queued.is_err() && node.waits.closing() {
            let calls = [(self.call.clone(), self.left())];
            node.scripts.park(namespace, true, &calls).await?;
            self.ended = true;
        }
        queued
    }

    /// The answer, or none by the deadline.
    async fn listen(&self, answered: Answered) -> Option<Answer> {
        tokio::select! {
            biased;
            // The sender is dropped without a word only when the map is: no answer, then.
            answer = answered => answer.ok(),
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
            self.node.waits.leave(&self.call.ticket);
        }
        if self.ended {
            return;
        }
        let (node, namespace) = (Arc::clone(self.node), self.namespace.to_owned());
        let keep = match self.node.on_drop {
            OnDrop::Leave => None,
            OnDrop::Park(grace) => Some(grace.min(self.left())),
        };
        let call = self.call.clone();
        self.node.errands.run(&self.node.runtime, take_back(node, namespace, call, keep));
    }
}

/// The weight and the share whose wait is to be explained.
fn explained(request: &AcquireSemaphoreRequest) -> Option<(i64, i64)> {
    request.explain.then_some((request.weight, share(request)))
}

fn share(request: &AcquireSemaphoreRequest) -> i64 {
    request.share.max(1)
}

/// Did Redis perhaps do what was asked?
pub(crate) fn undecided(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Internal)
}

/// Takes a call back, for as long as it may be that Redis knows it.
async fn take_back(node: Arc<Node>, namespace: String, call: Call, keep: Option<Duration>) {
    for _ in 0..CANCEL_TRIES {
        let done = match keep {
            None => node.scripts.cancel(&namespace, &call).await,
            Some(keep) => {
                let calls = [(call.clone(), keep)];
                node.scripts.park(&namespace, true, &calls).await.map(drop)
            }
        };
        match done {
            Err(error) if undecided(&error) => {
                tracing::debug!(%error, "a dropped acquire is not taken back yet");
                tokio::time::sleep(CANCEL_PAUSE).await;
            }
            _ => return,
        }
    }
    tracing::warn!(namespace, ?call, "a dropped acquire could not be taken back");
}

fn response(reply: AcquireReply, waited: bool) -> AcquireSemaphoreResponse {
    let outcome = match reply.outcome {
        Outcome::Acquired => AcquireOutcome::Acquired,
        // Asked again with no time left, a call that may wait has timed out.
        Outcome::Unavailable if !waited => AcquireOutcome::Unavailable,
        _ => AcquireOutcome::TimedOut,
    };
    let semaphore = reply.semaphore.unwrap_or_default();
    let AcquireReply { fencing_token, waiting, .. } = reply;
    let waiting = waiting.map(|waiting| *waiting);
    AcquireSemaphoreResponse { semaphore, outcome, fencing_token, waiting, ..Default::default() }
}
