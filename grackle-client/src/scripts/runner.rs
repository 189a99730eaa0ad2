//! Runs scripts on the server that has the namespace, until they are done.

use std::sync::Arc;

use deadpool_redis::redis::{self, RedisError, ScriptInvocation, ToRedisArgs, Value};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::reply::{AGAIN, RecordReply, Shows, parse};
use super::table::{Entry, Table, Variant};
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::transport::keys::Keys;
use crate::transport::router::Router;
use crate::transport::topology::Topology;
use crate::wire::Semaphore;

/// The scripts, and the connections to the servers that run them.
pub struct Scripts {
    pub(super) router: Router,
    pub(super) table: Table,
    pub(super) keys: Keys,
    pub(super) limits: Limits,
    observer: Observer,
}

/// Called with each state of a semaphore that a reply or a message shows, and its namespace.
pub(crate) type Observer = Box<dyn Fn(&str, &Semaphore) + Send + Sync>;

/// A script with its arguments, for the server that has the namespace.
pub(super) struct Invocation<'a> {
    pub(super) namespace: &'a str,
    pub(super) script: ScriptInvocation<'a>,
}

impl Invocation<'_> {
    pub(super) fn arg(&mut self, arg: impl ToRedisArgs) -> &mut Self {
        self.script.arg(arg);
        self
    }
}

impl Scripts {
    /// Prepares the scripts; connects with the first.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let topology = Arc::new(Topology::new(config)?);
        let (moves, _) = mpsc::unbounded_channel();
        Ok(Self::on_topology(config, topology, moves, Box::new(|_, _| {})))
    }

    /// `moves` receives the name of each namespace that turns out to be on another server.
    pub(crate) fn on_topology(
        config: &Config,
        topology: Arc<Topology>,
        moves: mpsc::UnboundedSender<String>,
        observer: Observer,
    ) -> Self {
        let (test_clock, cluster) = (config.test_clock, topology.is_cluster());
        Self {
            table: Table::new(Variant { test_clock, cluster }),
            router: Router::new(config, topology, moves),
            keys: Keys::new(&config.key_prefix),
            limits: config.limits.clone(),
            observer,
        }
    }

    pub(super) fn on<'a>(&self, entry: &'a Entry, namespace: &'a str) -> Invocation<'a> {
        let mut script = entry.script.prepare_invoke();
        script.key(self.keys.namespace(namespace));
        Invocation { namespace, script }
    }

    /// Runs a script, and observes the semaphore that its reply shows.
    pub(super) async fn reply<T>(&self, call: &Invocation<'_>) -> Result<T, Error>
    where
        T: DeserializeOwned + Shows,
    {
        let reply = parse(&self.text(call).await?)?;
        Ok(self.observed(call.namespace, reply))
    }

    pub(super) async fn record(&self, call: &Invocation<'_>) -> Result<RecordReply, Error> {
        self.reply(call).await
    }

    /// The one place where load is observed: whatever shows a semaphore comes by here.
    pub(super) fn observed<T: Shows>(&self, namespace: &str, shown: T) -> T {
        if let Some(semaphore) = shown.semaphore() {
            (self.observer)(namespace, semaphore);
        }
        shown
    }

    /// Runs a script, again for as long as it asks for that.
    pub(super) async fn text(&self, call: &Invocation<'_>) -> Result<String, Error> {
        loop {
            let reply = self.once(call).await.map_err(|(error, _)| error)?;
            if reply != AGAIN {
                return Ok(reply);
            }
        }
    }

    /// The same for scripts that are told whether it is their first step.
    pub(super) async fn in_steps<'a>(
        &self,
        step: impl Fn(bool) -> Invocation<'a>,
    ) -> Result<(), Error> {
        let mut begun = false;
        while self.once(&step(begun)).await.map_err(|(error, _)| error)? == AGAIN {
            begun = true;
        }
        Ok(())
    }

    /// The same for scripts that return a list.
    pub(super) async fn list(&self, call: &Invocation<'_>) -> Result<Vec<String>, Error> {
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

    /// Runs a script once. Beside an error: whether an earlier try may have run too.
    pub(super) async fn once(&self, call: &Invocation<'_>) -> Result<String, (Error, bool)> {
        let attempt =
            |mut connection| async move { call.script.invoke_async(&mut connection).await };
        self.router.run(call.namespace, attempt).await
    }
}
