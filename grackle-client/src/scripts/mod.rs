//! One typed function for each file in `lua/`; nothing else runs a script.
//!
//! Hidden from the documentation: tests drive single scripts through it.

mod arguments;
mod leases;
mod plain;
mod reply;
mod table;

use std::sync::Arc;
use std::time::Duration;

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{self, RedisError, ScriptInvocation, ToRedisArgs, Value};
use tokio::sync::mpsc;

pub use self::arguments::{AcquireArguments, Call, SemaphoreRules};
pub(crate) use self::reply::REORDER_WINDOW;
use self::reply::RecordReply;
pub(crate) use self::reply::{AGAIN, parse};
pub use self::reply::{AcquireReply, Message, Outcome, SweepReply, WatchReply};
use self::table::{Entry, Table};
use crate::config::{Config, Limits};
use crate::error::Error;
pub use crate::pagination::{Edge, PageReply, PageStart};
use crate::transport::diagnostics::Diagnostics;
use crate::transport::keys::Keys;
use crate::transport::router::Router;
use crate::transport::topology::{Address, Topology};
use crate::wire::{
    Holder, Metadata, Namespace, QueueDiscipline, Semaphore, SemaphoreWaiterResponse, Waiter,
};

/// The scripts, and the lanes to the servers that run them.
pub struct Scripts {
    router: Router,
    table: Table,
    pub(crate) keys: Keys,
    limits: Limits,
    observer: Observer,
}

/// Called with each state of a semaphore that a reply or a message shows, and its namespace.
pub(crate) type Observer = Box<dyn Fn(&str, &Semaphore) + Send + Sync>;

/// How long Redis remembers downs and ups that were not acknowledged.
pub(crate) const REMEMBERED_FOR: Duration = Duration::from_secs(600);

/// A script with its arguments, for the server that has the namespace.
struct Invocation<'a> {
    namespace: &'a str,
    script: ScriptInvocation<'a>,
}

/// No namespace can have that name.
const NOBODYS: &str = "grackle.check";

/// Stands for the index where a namespace is asked for: it is in none.
const INDEX: &str = "";

impl Invocation<'_> {
    fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.script.arg(arg);
        self
    }
}

impl Scripts {
    /// Prepares the scripts; connects with the first.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let topology = Arc::new(Topology::new(config)?);
        Ok(Self::on_topology(config, topology, mpsc::unbounded_channel().0, Box::new(|_, _| {})))
    }

    /// `moves` hears of each namespace that changes its server.
    pub(crate) fn on_topology(
        config: &Config,
        topology: Arc<Topology>,
        moves: mpsc::UnboundedSender<String>,
        observer: Observer,
    ) -> Self {
        Self {
            table: Table::new(config.test_clock, topology.is_cluster()),
            router: Router::new(config, topology, moves),
            keys: Keys::new(&config.key_prefix),
            limits: config.limits.clone(),
            observer,
        }
    }

    /// One PING, without a second try.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.router.ping().await
    }

    /// Sees, before anything is written, that Redis lets this user do what the scripts do.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        let call = self.on(&self.table.check, NOBODYS);
        self.text(&call).await.map(drop).map_err(|error| match error {
            Error::Internal { reason, source } => Error::Unavailable {
                reason: format!("{reason}; give this user the rights that the README names"),
                source,
            },
            other => other,
        })
    }

    /// What each server says of how it keeps its data, by its address.
    pub(crate) async fn diagnose(&self) -> Result<Vec<(Address, Diagnostics)>, Error> {
        self.router.ask_all(Diagnostics::ask).await
    }

    /// The server can't be used: look whether the address leads to another by now.
    pub(crate) async fn reconnect(&self, address: &Address) {
        self.router.reconnect(address).await;
    }

    /// Sees that this user may WAIT. For no replica it does not: it answers at once.
    pub(crate) async fn check_wait(&self) -> Result<(), Error> {
        let mut wait = redis::cmd("WAIT");
        wait.arg(0).arg(1);
        self.command::<i64>(&wait).await.map(drop)
    }

    // Namespaces.

    pub async fn create_namespace(
        &self,
        request: &str,
        name: &str,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Namespace, Error> {
        let mut call = self.on(&self.table.create_namespace, name);
        call.arg(request).arg(name).arg(description).arg(json(metadata));
        // Before as well: a process that dies in between leaves a stray name, which readers drop, but
        // no namespace that is never listed.
        self.index(name).await?;
        let made = self.record(&call).await.and_then(namespace);
        if matches!(made, Ok(_) | Err(Error::NamespaceExists)) {
            self.index(name).await?;
        }
        made
    }

    pub async fn get_namespace(&self, name: &str) -> Result<Namespace, Error> {
        let call = self.on(&self.table.get_namespace, name);
        self.record(&call).await.and_then(namespace)
    }

    pub async fn update_namespace(
        &self,
        request: &str,
        name: &str,
        expected_version: i64,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Namespace, Error> {
        let mut call = self.on(&self.table.update_namespace, name);
        call.arg(request).arg(expected_version).arg(description).arg(json(metadata));
        self.record(&call).await.and_then(namespace)
    }

    pub async fn delete_namespace(&self, name: &str) -> Result<(), Error> {
        let step = |begun: bool| {
            let mut call = self.on(&self.table.delete_namespace, name);
            call.arg(i32::from(begun));
            call
        };
        self.in_steps(step).await?;
        self.unindex(name).await
    }

    /// A page of names; what the index names and nobody knows is taken out of it.
    pub async fn list_namespaces(
        &self,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Namespace>, Error> {
        let mut script = self.table.list_namespaces.script.prepare_invoke();
        script.key(self.keys.index());
        let mut call = Invocation { namespace: INDEX, script };
        page_args(&mut call, from, limit);
        let names: PageReply<String> = parse(&self.text(&call).await?)?;
        let mut entries = Vec::with_capacity(names.entries.len());
        for name in &names.entries {
            match self.get_namespace(name).await {
                Ok(namespace) => entries.push(namespace),
                Err(Error::NamespaceNotFound) => self.unindex(name).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(PageReply { entries, order: None, before: names.before, after: names.after })
    }

    /// How many namespaces the index names.
    pub(crate) async fn count_namespaces(&self) -> Result<u64, Error> {
        let mut count = redis::cmd("ZCARD");
        count.arg(self.keys.index());
        self.command(&count).await
    }

    async fn index(&self, name: &str) -> Result<(), Error> {
        let mut add = redis::cmd("ZADD");
        add.arg(self.keys.index()).arg(0).arg(name);
        self.command(&add).await
    }

    /// Takes a name out of the index, and puts it back where a namespace of the name was made
    /// meanwhile: index and record stand in two cluster slots, so no one step can do both.
    async fn unindex(&self, name: &str) -> Result<(), Error> {
        let mut remove = redis::cmd("ZREM");
        remove.arg(self.keys.index()).arg(name);
        self.command::<()>(&remove).await?;
        match self.get_namespace(name).await {
            Ok(_) => self.index(name).await,
            Err(Error::NamespaceNotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    // Semaphores.

    pub async fn create_semaphore(
        &self,
        request: &str,
        ns: &str,
        name: &str,
        rules: impl Into<SemaphoreRules>,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Semaphore, Error> {
        let SemaphoreRules { permits, discipline, max_waiters } = rules.into();
        let mut call = self.on(&self.table.create_semaphore, ns);
        call.arg(request).arg(name).arg(permits).arg(description).arg(json(metadata));
        call.arg(word(discipline).unwrap_or("fifo")).arg(max_waiters.unwrap_or_default());
        call.arg(self.limits.max_semaphores);
        self.record(&call).await.and_then(semaphore)
    }

    pub async fn get_semaphore(&self, ns: &str, name: &str) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.get_semaphore, ns);
        self.record(call.arg(name)).await.and_then(semaphore)
    }

    #[expect(clippy::too_many_arguments, reason = "one for each of the script's")]
    pub async fn update_semaphore(
        &self,
        request: &str,
        ns: &str,
        name: &str,
        expected_version: i64,
        rules: impl Into<SemaphoreRules>,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Semaphore, Error> {
        let SemaphoreRules { permits, discipline, max_waiters } = rules.into();
        let mut call = self.on(&self.table.update_semaphore, ns);
        call.arg(request).arg(name).arg(expected_version).arg(permits);
        call.arg(description).arg(json(metadata)).arg(word(discipline).unwrap_or_default());
        call.arg(max_waiters.map(|most| most.to_string()).unwrap_or_default());
        self.record(&call).await.and_then(semaphore)
    }

    /// What it was, where there was one.
    pub async fn delete_semaphore(&self, ns: &str, name: &str) -> Result<Option<Semaphore>, Error> {
        let (mut begun, mut was) = (false, None);
        loop {
            let mut call = self.on(&self.table.delete_semaphore, ns);
            call.arg(name).arg(i32::from(begun));
            let reply = self.once(&call).await.map_err(|(error, _)| error)?;
            was = was.or(parse::<RecordReply>(&reply)?.semaphore);
            if !reply.starts_with(AGAIN.trim_end_matches('}')) {
                return Ok(was);
            }
            begun = true;
        }
    }

    pub async fn list_semaphores(
        &self,
        ns: &str,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Semaphore>, Error> {
        let mut call = self.on(&self.table.list_semaphores, ns);
        page_args(&mut call, from, limit);
        parse(&self.text(&call).await?)
    }

    pub async fn list_semaphore_holders(
        &self,
        ns: &str,
        name: &str,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Holder>, Error> {
        let mut call = self.on(&self.table.list_semaphore_holders, ns);
        page_args(call.arg(name), from, limit);
        parse(&self.text(&call).await?)
    }

    /// `order` is that of the page from which this one goes on; empty for the first.
    pub async fn list_semaphore_waiters(
        &self,
        ns: &str,
        name: &str,
        from: &PageStart,
        limit: i64,
        order: &str,
    ) -> Result<PageReply<Waiter>, Error> {
        let mut call = self.on(&self.table.list_semaphore_waiters, ns);
        page_args(call.arg(name), from, limit);
        parse(&self.text(call.arg(order)).await?)
    }

    pub async fn get_semaphore_waiter(
        &self,
        ns: &str,
        name: &str,
        lease_id: &str,
    ) -> Result<SemaphoreWaiterResponse, Error> {
        let mut call = self.on(&self.table.get_semaphore_waiter, ns);
        parse(&self.text(call.arg(name).arg(lease_id)).await?)
    }

    // Acquiring.

    pub async fn acquire(
        &self,
        ns: &str,
        call: &Call,
        wanted: AcquireArguments<'_>,
    ) -> Result<AcquireReply, Error> {
        let mut script = self.on(&self.table.acquire, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(wanted.weight);
        script
            .arg(wanted.share)
            .arg(json(wanted.metadata))
            .arg(&call.ticket)
            .arg(micros(wanted.timeout));
        script.arg(i32::from(wanted.listening)).arg(self.limits.max_holders);
        script.arg(self.limits.max_waiters).arg(self.limits.max_holds_per_lease);
        if wanted.explain {
            script.arg(1);
        }
        self.acquire_reply(ns, &script).await
    }

    /// The script's view of each call: goes on, lost, or answered; and µs until a sweep is due.
    pub async fn resume(&self, ns: &str, calls: &[Call]) -> Result<(i64, Vec<CallState>), Error> {
        let mut script = self.on(&self.table.resume, ns);
        for call in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket);
        }
        let replies: Vec<String> = self.list(&script).await?;
        let (sweep_in, replies) =
            replies.split_first().ok_or_else(|| Error::internal("resume answered nothing"))?;
        let resumed =
            replies.iter().map(|reply| self.call_state(ns, reply)).collect::<Result<_, _>>()?;
        Ok((parse(sweep_in)?, resumed))
    }

    /// `explain` are the weight and the share that were asked for, where the answer is to say why it
    /// timed out.
    pub async fn give_up(
        &self,
        ns: &str,
        call: &Call,
        explain: Option<(i64, i64)>,
    ) -> Result<AcquireReply, Error> {
        let mut script = self.on(&self.table.give_up, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(&call.ticket);
        if let Some((weight, share)) = explain {
            script.arg(weight).arg(share);
        }
        self.acquire_reply(ns, &script).await
    }

    pub async fn cancel(&self, ns: &str, call: &Call) -> Result<(), Error> {
        let mut script = self.on(&self.table.cancel, ns);
        script.arg(&call.semaphore).arg(&call.lease_id).arg(&call.ticket);
        self.text(&script).await.map(drop)
    }

    /// Whether the grant of each call stands on the server of that connection, which is then the one
    /// that wrote them last.
    pub async fn confirm(
        &self,
        mut connection: MultiplexedConnection,
        ns: &str,
        calls: &[&Call],
    ) -> Result<Vec<bool>, RedisError> {
        let mut script = self.on(&self.table.confirm, ns);
        for call in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket);
        }
        script.script.invoke_async(&mut connection).await
    }

    /// Sets calls aside, each for a time. A grant that crossed is answered, or undone.
    pub async fn park(
        &self,
        ns: &str,
        undo_crossed: bool,
        calls: &[(Call, Duration)],
    ) -> Result<Vec<CallState>, Error> {
        let mut script = self.on(&self.table.set_aside, ns);
        script.arg(if undo_crossed { "undo" } else { "keep" });
        for (call, keep) in calls {
            script.arg(&call.lease_id).arg(&call.semaphore).arg(&call.ticket).arg(micros(*keep));
        }
        self.list(&script).await?.iter().map(|reply| self.call_state(ns, reply)).collect()
    }

    pub async fn release(&self, ns: &str, name: &str, lease_id: &str) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.release, ns);
        self.record(call.arg(name).arg(lease_id)).await.and_then(semaphore)
    }

    pub async fn sweep(&self, ns: &str, node: &str) -> Result<SweepReply, Error> {
        let mut call = self.on(&self.table.sweep, ns);
        parse(&self.text(call.arg(node)).await?)
    }

    /// Has every change of the semaphore published for a time; what it shows now.
    pub async fn watch(&self, ns: &str, name: &str) -> Result<WatchReply, Error> {
        let mut call = self.on(&self.table.watch, ns);
        let reply: WatchReply = parse(&self.text(call.arg(name)).await?)?;
        self.observe(ns, reply.semaphore.as_ref());
        Ok(reply)
    }

    // How scripts are run.

    fn on<'a>(&self, entry: &'a Entry, namespace: &'a str) -> Invocation<'a> {
        let mut script = entry.script.prepare_invoke();
        script.key(self.keys.namespace(namespace));
        Invocation { namespace, script }
    }

    async fn record(&self, call: &Invocation<'_>) -> Result<RecordReply, Error> {
        let reply: RecordReply = parse(&self.text(call).await?)?;
        if let Some(semaphore) = &reply.semaphore {
            (self.observer)(call.namespace, semaphore);
        }
        Ok(reply)
    }

    async fn acquire_reply(&self, ns: &str, call: &Invocation<'_>) -> Result<AcquireReply, Error> {
        let reply: AcquireReply = parse(&self.text(call).await?)?;
        self.observe(ns, reply.semaphore.as_ref());
        Ok(reply)
    }

    fn observe(&self, ns: &str, semaphore: Option<&Semaphore>) {
        if let Some(semaphore) = semaphore {
            (self.observer)(ns, semaphore);
        }
    }

    fn call_state(&self, ns: &str, reply: &str) -> Result<CallState, Error> {
        let state = CallState::parse(reply)?;
        if let CallState::Answered(reply) = &state {
            self.observe(ns, reply.semaphore.as_ref());
        }
        Ok(state)
    }

    /// Reads a message on a node's channel.
    pub(crate) fn message(&self, ns: &str, payload: &[u8]) -> Result<Message, Error> {
        let message = parse(&String::from_utf8_lossy(payload))?;
        if let Message::Answer { calls, answer } = &message {
            calls.iter().for_each(|_| self.observe(ns, answer.semaphore.as_ref()));
        }
        Ok(message)
    }

    /// Reads a message on the channel of a watched semaphore.
    pub(crate) fn watch_message(&self, ns: &str, payload: &[u8]) -> Result<WatchReply, Error> {
        let reply: WatchReply = parse(&String::from_utf8_lossy(payload))?;
        self.observe(ns, reply.semaphore.as_ref());
        Ok(reply)
    }

    /// Runs a script until it has not to be called again.
    async fn text(&self, call: &Invocation<'_>) -> Result<String, Error> {
        loop {
            let reply = self.once(call).await.map_err(|(error, _)| error)?;
            if reply != AGAIN {
                return Ok(reply);
            }
        }
    }

    /// Like `text`, of scripts that are told whether it is their first step.
    async fn in_steps<'a>(&self, step: impl Fn(bool) -> Invocation<'a>) -> Result<(), Error> {
        let mut begun = false;
        while self.once(&step(begun)).await.map_err(|(error, _)| error)? == AGAIN {
            begun = true;
        }
        Ok(())
    }

    async fn once(&self, call: &Invocation<'_>) -> Result<String, (Error, bool)> {
        let attempt =
            |mut connection| async move { call.script.invoke_async(&mut connection).await };
        self.router.run(call.namespace, attempt).await
    }

    /// Like `text`, of scripts that answer a list.
    async fn list(&self, call: &Invocation<'_>) -> Result<Vec<String>, Error> {
        loop {
            let attempt = |mut connection| async move {
                match call.script.invoke_async::<Value>(&mut connection).await? {
                    Value::Array(values) => redis::from_redis_value(Value::Array(values)),
                    text => redis::from_redis_value(text).map(|text: String| vec![text]),
                }
                .map_err(RedisError::from)
            };
            let reply: Vec<String> =
                self.router.run(call.namespace, attempt).await.map_err(|(error, _)| error)?;
            if reply.first().is_none_or(|first| first != AGAIN) {
                return Ok(reply);
            }
        }
    }

    async fn command<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, Error> {
        let attempt = |mut connection| async move { command.query_async(&mut connection).await };
        self.router.run(INDEX, attempt).await.map_err(|(error, _)| error)
    }
}

/// What Redis knows of a call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "they are read and gone")]
pub enum CallState {
    /// It goes on waiting.
    Waiting,
    /// Nothing: it has to be asked again.
    Unknown,
    /// It was granted.
    Answered(AcquireReply),
}

impl CallState {
    fn parse(reply: &str) -> Result<Self, Error> {
        match reply {
            "" => Ok(Self::Waiting),
            "lost" => Ok(Self::Unknown),
            answer => parse(answer).map(Self::Answered),
        }
    }
}

fn page_args(call: &mut Invocation<'_>, from: &PageStart, limit: i64) {
    match from {
        PageStart::First => call.arg("").arg("").arg(""),
        PageStart::After(Edge(score, member)) => call.arg("after").arg(score).arg(member),
        PageStart::Before(Edge(score, member)) => call.arg("before").arg(score).arg(member),
    };
    call.arg(limit);
}

/// As the scripts write it.
fn word(discipline: QueueDiscipline) -> Option<&'static str> {
    match discipline {
        QueueDiscipline::Unspecified => None,
        QueueDiscipline::Fifo => Some("fifo"),
        QueueDiscipline::Lifo => Some("lifo"),
        QueueDiscipline::Weighted => Some("weighted"),
    }
}

fn json(metadata: &Metadata) -> String {
    if metadata.is_empty() {
        return String::new();
    }
    // A map of strings to strings: it has a JSON form.
    serde_json::to_string(metadata).unwrap_or_default()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn namespace(reply: RecordReply) -> Result<Namespace, Error> {
    reply.namespace.ok_or_else(|| Error::internal("a script left the namespace out"))
}

fn semaphore(reply: RecordReply) -> Result<Semaphore, Error> {
    reply.semaphore.ok_or_else(|| Error::internal("a script left the semaphore out"))
}
