//! What one client is to Redis: a node, with an id, on which calls wait.

pub(crate) mod acquire;
pub(crate) mod cleanup;
pub(crate) mod load;
pub(crate) mod plain;
pub(crate) mod replication;
pub(crate) mod subscriber;
pub(crate) mod sweeper;
pub(crate) mod topic;
pub(crate) mod waiters;
pub(crate) mod watch;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use nanoid::nanoid;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::config::{Config, OnDrop};
use crate::engine::cleanup::Errands;
use crate::engine::load::registry::Convoys;
use crate::engine::plain::acknowledged::{Heard, REMEMBERED_FOR};
use crate::engine::plain::proxy_lease::StandIns;
use crate::engine::replication::replica_acks::Acks;
use crate::engine::subscriber::Subscribers;
use crate::engine::sweeper::active;
use crate::engine::sweeper::idle::{self, Tidy};
use crate::engine::topic::Topic;
use crate::engine::waiters::{Answer, Waits};
use crate::engine::watch::registry::{Look, Watches};
use crate::error::Error;
use crate::scripts::{AcquireReply, Call, CallState, Outcome, Scripts};
use crate::transport::topology::Servers;
use crate::transport::warning::RedisWarning;
use crate::types::SemaphoreName;

/// How long late calls are gathered.
const GATHER: Duration = Duration::from_millis(2);
/// How long a node that closes waits for Redis; then callers are answered all the same, within the
/// time that a server gives them.
const CLOSES_WITHIN: Duration = Duration::from_secs(2);
/// Calls that one script asks about.
pub(crate) const BATCH: usize = 500;

/// When a namespace has to be swept, from time to time sooner.
type SweepAt = tokio::sync::watch::Receiver<std::time::Instant>;

/// Base 62: a node's id stands in tickets, keys and channels.
pub(crate) const ALPHABET: [char; 62] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I',
    'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b',
    'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u',
    'v', 'w', 'x', 'y', 'z',
];

pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) scripts: Scripts,
    pub(crate) waits: Waits,
    pub(crate) watches: Watches,
    pub(crate) convoys: Convoys,
    pub(crate) tidy: Arc<Tidy>,
    pub(crate) on_drop: OnDrop,
    pub(crate) runtime: Handle,
    pub(crate) subscribers: Subscribers,
    /// Where grants wait for replicas, if they do.
    pub(crate) acks: Option<Acks>,
    pub(crate) heard: Heard,
    pub(crate) errands: Errands,
    pub(crate) stand_ins: StandIns,
    servers: Arc<Servers>,
    late: Mutex<Late>,
    next_ticket: AtomicU64,
}

/// Calls, by namespace, that were asked before their channel was heard and answered after.
#[derive(Default)]
struct Late(HashMap<String, Vec<Call>>);

impl Late {
    /// True for the first of a batch.
    fn push(&mut self, namespace: &str, call: &Call) -> bool {
        let calls = self.0.entry(namespace.to_owned()).or_default();
        calls.push(call.clone());
        calls.len() == 1
    }
}

impl Node {
    /// Makes the node; it subscribes when a call first waits.
    pub(crate) fn start(config: &Config) -> Result<Arc<Self>, Error> {
        let servers = Arc::new(Servers::new(config)?);
        let (moves, moved) = mpsc::unbounded_channel();
        let id = nanoid!(12, &ALPHABET);
        let node = Arc::new(Self {
            scripts: Scripts::on_servers(config, Arc::clone(&servers), moves),
            waits: Waits::default(),
            watches: Watches::new(most(config.limits.max_watches)),
            convoys: Convoys::new(most(config.limits.max_observed_semaphores)),
            tidy: Arc::default(),
            heard: Heard::default(),
            errands: Errands::default(),
            stand_ins: StandIns::default(),
            on_drop: config.on_drop,
            runtime: Handle::current(),
            acks: config.replica_acks.map(|wanted| Acks::new(config, &servers, wanted)),
            subscribers: Subscribers::new(config, Arc::clone(&servers), id.clone()),
            servers,
            late: Mutex::default(),
            next_ticket: AtomicU64::new(0),
            id,
        });
        node.runtime.spawn(follow(Arc::downgrade(&node), moved));
        node.runtime.spawn(idle::run(Arc::downgrade(&node)));
        Ok(node)
    }

    /// A ticket stands for one call, and no other call ever has it.
    pub(crate) fn ticket(&self) -> String {
        format!("{}:{}", self.id, self.next_ticket.fetch_add(1, Ordering::Relaxed))
    }

    /// Is the address that of one server, whatever it is?
    pub(crate) fn has_one_server(&self) -> bool {
        self.servers.is_one()
    }

    /// What is the matter with the servers. One that can't be used is left: its address may lead to
    /// another by now.
    pub(crate) async fn redis_warnings(&self) -> Result<Vec<RedisWarning>, Error> {
        let mut warnings = Vec::new();
        for (server, checkup) in self.scripts.checkup().await? {
            let named = (!server.is_empty()).then_some(&server);
            for kind in checkup.findings(self.servers.is_cluster()) {
                let warning = RedisWarning { server: named.cloned(), kind };
                if warning.is_fatal() {
                    self.scripts.renew(&server).await;
                }
                warnings.push(warning);
            }
        }
        Ok(warnings)
    }

    /// The call stands in Redis: listen for it, and sweep when something is due. `heard_by` is the
    /// subscription that heard its channel when it was asked.
    pub(crate) fn queued(
        self: &Arc<Self>,
        namespace: &str,
        call: &Call,
        sweep_in: Option<i64>,
        heard_by: Option<u64>,
    ) -> Result<(), Error> {
        if let Some(sweep_at) = self.waits.queued(&call.ticket)? {
            self.patrol(namespace, sweep_at);
        }
        self.waits.sweep_within(namespace, sweep_in.unwrap_or(-1));
        let now = self.waits.heard_by(namespace);
        if now.is_some() && now != heard_by && self.late().push(namespace, call) {
            // Subscribed meanwhile, and asked about all calls but this one and its like.
            self.runtime.spawn(resume_late(Arc::clone(self), namespace.to_owned()));
        }
        Ok(())
    }

    /// Listens to a namespace that is new to this node, and keeps it swept.
    fn patrol(self: &Arc<Self>, namespace: &str, sweep_at: SweepAt) {
        self.subscribers.listen(self, Topic::Namespace(namespace.to_owned()));
        self.runtime.spawn(active::run(Arc::downgrade(self), namespace.to_owned(), sweep_at));
    }

    /// Looks on at a semaphore; the first who does has the node watch it.
    pub(crate) fn look(self: &Arc<Self>, watched: &SemaphoreName) -> Result<Look, Error> {
        // First: what is due sooner than the watch is told is heard of, then.
        self.visit(&watched.namespace);
        let topic = || self.subscribers.listen(self, Topic::Semaphore(watched.clone()));
        let joined = self.watches.join(watched, topic);
        match joined {
            Ok((look, begun)) => {
                // Again: until then nothing has kept the namespace.
                self.visit(&watched.namespace);
                if let Some(begun) = begun {
                    self.runtime.spawn(watch::task::run(
                        Arc::downgrade(self),
                        watched.clone(),
                        begun,
                    ));
                }
                Ok(look)
            }
            Err(error) => {
                self.unlisten(&watched.namespace);
                Err(error)
            }
        }
    }

    /// A semaphore of the namespace is watched: it is kept swept.
    fn visit(self: &Arc<Self>, namespace: &str) {
        if let Some(sweep_at) = self.waits.visit(namespace) {
            self.patrol(namespace, sweep_at);
        }
    }

    /// Somebody looks on no more; after the last nothing is heard of it.
    pub(crate) fn look_away(&self, watched: &SemaphoreName, look: u64) {
        let topic = || self.subscribers.unlisten(Topic::Semaphore(watched.clone()));
        self.watches.leave(watched, look, topic);
    }

    /// The watch of a semaphore is over.
    pub(crate) fn end_watch(&self, watched: &SemaphoreName, watch: u64) {
        let topic = || self.subscribers.unlisten(Topic::Semaphore(watched.clone()));
        self.watches.end(watched, watch, topic);
    }

    /// What was to be watched is not there: of its namespace nothing more is to be heard, unless
    /// something else is.
    pub(crate) fn end_vain_watch(&self, watched: &SemaphoreName, watch: u64) {
        self.end_watch(watched, watch);
        self.unlisten(&watched.namespace);
    }

    fn late(&self) -> MutexGuard<'_, Late> {
        // Nothing panics while it holds the lock half-way through a change.
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Redis sees no subscription of this node, though there is one: it is at the wrong server.
    pub(crate) fn listen_again(&self, namespace: &str) {
        self.subscribers.listen_again(&Topic::Namespace(namespace.to_owned()));
    }

    /// Stops listening where no call waits and nothing is watched any more; false where that is not so.
    pub(crate) fn unlisten(&self, namespace: &str) -> bool {
        let unlisten = || self.subscribers.unlisten(Topic::Namespace(namespace.to_owned()));
        self.waits.forget(namespace, || !self.watches.any_in(namespace), unlisten)
    }

    /// Asks Redis about calls that wait in a namespace, after a gap in what was heard.
    pub(crate) async fn resume(&self, namespace: &str, calls: Vec<Call>) -> Result<(), Error> {
        for calls in calls.chunks(BATCH) {
            match self.scripts.resume(namespace, calls).await {
                Ok((sweep_in, resumed)) => {
                    self.waits.sweep_within(namespace, sweep_in);
                    self.spread(namespace, calls, resumed);
                }
                Err(Error::NamespaceNotFound) => {
                    for call in calls {
                        self.waits.answer(&call.ticket, Answer::Failed(Error::NamespaceNotFound));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn spread(&self, namespace: &str, calls: &[Call], resumed: Vec<CallState>) {
        for (call, resumed) in calls.iter().zip(resumed) {
            match resumed {
                CallState::Waiting => {}
                CallState::Unknown => self.waits.answer(&call.ticket, Answer::AskAgain),
                CallState::Answered(reply) => self.hear(namespace, &call.ticket, &reply),
            }
        }
    }

    /// What an answer tells of its semaphore. Where answers come one after the other, that order is
    /// kept: the tasks that they wake have none.
    pub(crate) fn saw(&self, namespace: &str, reply: &AcquireReply) {
        if let Some(semaphore) = &reply.semaphore {
            self.convoys.state(namespace, semaphore);
        }
    }

    /// The answer to a call without an owner has come: the next one tells Redis.
    pub(crate) fn has_heard(&self, semaphore: &SemaphoreName, ticket: String) {
        self.heard.note(semaphore, ticket);
        self.tidy.expect(&semaphore.namespace, REMEMBERED_FOR);
    }

    /// Hands a call what Redis decided.
    pub(crate) fn hear(&self, namespace: &str, ticket: &str, reply: &AcquireReply) {
        self.saw(namespace, reply);
        let answer = match (reply.outcome, &reply.error) {
            (Outcome::Error, Some(text)) => Answer::Failed(Error::from_text(text)),
            _ => Answer::Reply(Box::new(reply.clone())),
        };
        self.waits.answer(ticket, answer);
    }

    /// Sets every waiting call aside, so that the next in line are not held up and the same leases
    /// get their places back elsewhere, and answers their callers. Whoever looks on is told. Then what
    /// callers left that are gone is put in order.
    pub(crate) async fn close(&self) {
        self.set_all_aside().await;
        if tokio::time::timeout(CLOSES_WITHIN, self.errands.done()).await.is_err() {
            tracing::warn!("what callers have left is not all given back: Redis does not answer");
        }
    }

    async fn set_all_aside(&self) {
        self.watches.close(|watched| self.subscribers.unlisten(Topic::Semaphore(watched)));
        let patience = Instant::now() + CLOSES_WITHIN;
        for (namespace, calls) in self.waits.close() {
            for calls in calls.chunks(BATCH) {
                let aside = self.scripts.park(&namespace, false, calls);
                let resumed = timeout_at(patience, aside)
                    .await
                    .unwrap_or_else(|_| Err(Error::unavailable("no answer from Redis in time")));
                let resumed = resumed.unwrap_or_else(|error| {
                    tracing::warn!(%error, "waiting calls could not be set aside");
                    vec![CallState::Waiting; calls.len()]
                });
                for ((call, _), resumed) in calls.iter().zip(resumed) {
                    match resumed {
                        CallState::Answered(reply) => self.hear(&namespace, &call.ticket, &reply),
                        _ => self.waits.answer(&call.ticket, Answer::Failed(waiters::closing())),
                    }
                }
            }
        }
    }
}

fn most(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// A crowd that arrives while the node subscribes asks once, not one by one.
async fn resume_late(node: Arc<Node>, namespace: String) {
    tokio::time::sleep(GATHER).await;
    let calls = node.late().0.remove(&namespace).unwrap_or_default();
    if let Err(error) = node.resume(&namespace, calls).await {
        tracing::warn!(%error, "the next subscription asks again");
    }
}

/// Listens where the namespaces are that change their server while calls wait there.
async fn follow(node: Weak<Node>, mut moved: mpsc::UnboundedReceiver<String>) {
    while let Some(namespace) = moved.recv().await {
        let Some(node) = node.upgrade() else { return };
        if node.waits.knows(&namespace) {
            node.waits.misplaced(&namespace);
            node.subscribers.listen(&node, Topic::Namespace(namespace.clone()));
        }
        node.watches.each_in(&namespace, |watched| {
            node.subscribers.listen(&node, Topic::Semaphore(watched.clone()));
        });
    }
}
