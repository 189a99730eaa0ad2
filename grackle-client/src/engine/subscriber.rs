//! The subscriber of a client: one connection on which all its waiting calls hear their answers, and
//! what it watches shows its changes.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use deadpool_redis::redis::aio::{PubSubSink, PubSubStream};
use deadpool_redis::redis::{self, RedisError};
use futures_util::StreamExt;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, interval_at, timeout};

use crate::config::Config;
use crate::engine::Node;
use crate::engine::topic::Topic;
use crate::scripts::Message;
use crate::transport::keys::Keys;
use crate::transport::topology::{Address, Servers};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// A link that went silent without closing is found out by a ping that nobody answers.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Topics that one SUBSCRIBE names.
const BATCH: usize = 500;

/// What a node wants to hear.
enum Channel {
    Listen(Topic),
    Unlisten(Topic),
    /// On another connection: Redis does not see this one where the topic is.
    Again,
}

/// The subscribers of a node: one, or in a cluster one a server that has a topic of it.
pub(crate) struct Subscribers {
    servers: Arc<Servers>,
    id: String,
    keys: Keys,
    patience: Duration,
    /// By server, and which of them each topic is heard from.
    started: Mutex<Started>,
}

#[derive(Default)]
struct Started {
    channels: HashMap<Address, UnboundedSender<Channel>>,
    heard_from: HashMap<Topic, Address>,
}

struct Subscriber {
    servers: Arc<Servers>,
    address: Address,
    node: Weak<Node>,
    id: String,
    keys: Keys,
    wanted: UnboundedReceiver<Channel>,
    /// What was wanted so far.
    topics: HashSet<Topic>,
    /// The number of the connection.
    subscription: u64,
    patience: Duration,
}

impl Subscribers {
    pub(crate) fn new(config: &Config, servers: Arc<Servers>, id: String) -> Self {
        let (keys, patience) = (Keys::new(&config.key_prefix), config.command_timeout);
        Self { servers, id, keys, patience, started: Mutex::default() }
    }

    /// Hears of a topic from now on, where it is now.
    pub(crate) fn listen(&self, node: &Arc<Node>, topic: Topic) {
        let mut started = self.started();
        let address = self.servers.address(topic.namespace());
        let before = started.heard_from.insert(topic.clone(), address.clone());
        if let Some(before) = before.filter(|before| *before != address) {
            started.tell(&before, Channel::Unlisten(topic.clone()));
        }
        if !started.channels.contains_key(&address) {
            let channels = self.start(node, address.clone());
            started.channels.insert(address.clone(), channels);
        }
        started.tell(&address, Channel::Listen(topic));
    }

    pub(crate) fn unlisten(&self, topic: Topic) {
        let mut started = self.started();
        if let Some(address) = started.heard_from.remove(&topic) {
            started.tell(&address, Channel::Unlisten(topic));
        }
    }

    /// Hears of a topic, and of all others from the same server, on another connection.
    pub(crate) fn listen_again(&self, topic: &Topic) {
        let started = self.started();
        if let Some(address) = started.heard_from.get(topic) {
            started.tell(address, Channel::Again);
        }
    }

    /// Those of the topics that are to be heard from that server.
    fn heard_from(&self, address: &str, topics: &[Topic]) -> Vec<Topic> {
        let started = self.started();
        let here = |topic: &&Topic| started.heard_from.get(*topic).is_some_and(|at| at == address);
        topics.iter().filter(here).cloned().collect()
    }

    fn start(&self, node: &Arc<Node>, address: Address) -> UnboundedSender<Channel> {
        let (channels, wanted) = mpsc::unbounded_channel();
        let subscriber = Subscriber {
            servers: Arc::clone(&self.servers),
            address,
            node: Arc::downgrade(node),
            id: self.id.clone(),
            keys: self.keys.clone(),
            wanted,
            topics: HashSet::new(),
            subscription: 0,
            patience: self.patience,
        };
        node.runtime.spawn(subscriber.run());
        channels
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        // Nothing panics while it holds the lock half-way through a change.
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Started {
    fn tell(&self, address: &str, channel: Channel) {
        if let Some(channels) = self.channels.get(address) {
            // A subscriber lives as long as the node.
            let _ = channels.send(channel);
        }
    }
}

/// Why listening ended.
enum End {
    /// The node is gone.
    Node,
    /// The connection is: make another.
    Connection(RedisError),
}

impl From<RedisError> for End {
    fn from(error: RedisError) -> Self {
        Self::Connection(error)
    }
}

impl Subscriber {
    /// Listens, on a new connection whenever one breaks, until the node is gone.
    async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        while self.is_wanted().await {
            let began = Instant::now();
            let Err(End::Connection(error)) = self.listen().await else {
                return;
            };
            let Some(node) = self.node.upgrade() else {
                return;
            };
            if began.elapsed() > LONGEST_PAUSE {
                pause = FIRST_PAUSE;
            }
            // Once an outage; what follows is the same news.
            if pause == FIRST_PAUSE {
                tracing::warn!(%error, "the subscriber has no connection; making another");
            } else {
                tracing::debug!(%error, "the subscriber still has no connection");
            }
            // Those that are wanted elsewhere by now are not this one's to deafen.
            while let Ok(channel) = self.wanted.try_recv() {
                self.note(channel);
            }
            node.waits.deafen(namespaces(&self.topics), self.subscription);
            drop(node);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits until there is a topic to hear of; false where the node is gone.
    async fn is_wanted(&mut self) -> bool {
        loop {
            while let Ok(channel) = self.wanted.try_recv() {
                self.note(channel);
            }
            if !self.topics.is_empty() {
                return true;
            }
            match self.wanted.recv().await {
                Some(channel) => self.note(channel),
                None => return false,
            }
        }
    }

    async fn listen(&mut self) -> Result<(), End> {
        let connect = async { self.servers.client(&self.address).await?.get_async_pubsub().await };
        let (sink, stream) = in_time(self.patience, connect).await?.split();
        // Reads go on while the writer waits for an answer, so a slow one delays no hand-off.
        let node = self.node.clone();
        tokio::select! {
            end = hear(stream, node, self.keys.clone()) => end,
            end = self.subscribe(sink) => end,
        }
    }

    async fn subscribe(&mut self, mut sink: PubSubSink) -> Result<(), End> {
        self.subscription = self.node()?.waits.next_subscription();
        let again: Vec<Topic> = self.topics.iter().cloned().collect();
        for topics in again.chunks(BATCH) {
            self.add(&mut sink, topics).await?;
        }
        let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        loop {
            tokio::select! {
                wanted = self.wanted.recv() => match wanted {
                    Some(wanted) => self.change(&mut sink, wanted).await?,
                    None => return Err(End::Node),
                },
                _ = ping.tick() => {
                    in_time(self.patience, sink.ping::<redis::Value>()).await?;
                }
            }
        }
    }

    /// Follows what is wanted, many at once where many wait.
    async fn change(&mut self, sink: &mut PubSubSink, first: Channel) -> Result<(), End> {
        let (mut next, mut listen) = (Some(first), Vec::new());
        while let Some(channel) = next.take() {
            match channel {
                Channel::Listen(topic) => {
                    self.topics.insert(topic.clone());
                    listen.push(topic);
                }
                Channel::Again => return Err(unheard()),
                Channel::Unlisten(topic) => {
                    self.topics.remove(&topic);
                    listen.retain(|wanted| *wanted != topic);
                    in_time(self.patience, sink.unsubscribe(self.channels(&[topic]))).await?;
                }
            }
            if listen.len() < BATCH {
                next = self.wanted.try_recv().ok();
            }
        }
        self.add(sink, &listen).await
    }

    /// Subscribes to topics, and asks about their calls and states: what was said before was not
    /// heard.
    async fn add(&self, sink: &mut PubSubSink, topics: &[Topic]) -> Result<(), End> {
        if topics.is_empty() {
            return Ok(());
        }
        in_time(self.patience, sink.subscribe(self.channels(topics))).await?;
        let node = self.node()?;
        // One that has gone to another server meanwhile is heard there.
        let here = node.subscribers.heard_from(&self.address, topics);
        node.waits.hears(namespaces(&here), self.subscription);
        for topic in here {
            match topic {
                Topic::Namespace(namespace) => {
                    node.runtime.spawn(resume(self.node.clone(), namespace));
                }
                Topic::Semaphore(watched) => node.watches.hears(&watched),
            }
        }
        Ok(())
    }

    fn note(&mut self, channel: Channel) {
        match channel {
            Channel::Listen(topic) => drop(self.topics.insert(topic)),
            Channel::Unlisten(topic) => drop(self.topics.remove(&topic)),
            Channel::Again => {}
        }
    }

    fn channels(&self, topics: &[Topic]) -> Vec<String> {
        topics.iter().flat_map(|topic| topic.channels(&self.keys, &self.id)).collect()
    }

    fn node(&self) -> Result<Arc<Node>, End> {
        self.node.upgrade().ok_or(End::Node)
    }
}

fn namespaces<'a>(topics: impl IntoIterator<Item = &'a Topic>) -> impl Iterator<Item = &'a String> {
    topics.into_iter().filter_map(|topic| match topic {
        Topic::Namespace(namespace) => Some(namespace),
        Topic::Semaphore(_) => None,
    })
}

async fn in_time<T>(
    patience: Duration,
    what: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, End> {
    match timeout(patience, what).await {
        Ok(result) => Ok(result?),
        Err(_) => {
            Err(End::Connection((redis::ErrorKind::Io, "the subscriber's link is silent").into()))
        }
    }
}

fn unheard() -> End {
    End::Connection((redis::ErrorKind::Io, "Redis knows nothing of the subscription").into())
}

async fn hear(mut stream: PubSubStream, node: Weak<Node>, keys: Keys) -> Result<(), End> {
    while let Some(message) = stream.next().await {
        let node = node.upgrade().ok_or(End::Node)?;
        if let Some((namespace, name)) = keys.watched_of(message.get_channel_name()) {
            node.watches.heard(namespace, name, message.get_payload_bytes());
            continue;
        }
        // Nothing else is subscribed to.
        let Some(namespace) = keys.namespace_of(message.get_channel_name()) else { continue };
        match serde_json::from_slice(message.get_payload_bytes()) {
            Ok(Message::Answer { calls, answer }) => {
                calls.iter().for_each(|ticket| node.hear(namespace, ticket, &answer));
            }
            Ok(Message::Sweep { sweep_in }) => node.waits.sweep_within(namespace, sweep_in),
            Err(error) => tracing::warn!(%error, "a message that no Grackle sends"),
        }
    }
    Err(End::Connection((redis::ErrorKind::Io, "the subscriber's link was closed").into()))
}

/// Asks until it is answered, or the next connection asks anew.
async fn resume(node: Weak<Node>, namespace: String) {
    loop {
        let Some(node) = node.upgrade() else { return };
        match node.resume(&namespace, node.waits.in_namespace(&namespace)).await {
            Ok(()) => return,
            Err(error) if node.waits.heard_by(&namespace).is_none() => {
                tracing::debug!(%error, namespace, "the subscriber is gone again");
                return;
            }
            Err(error) => tracing::warn!(%error, namespace, "resume failed; trying again"),
        }
        tokio::time::sleep(LONGEST_PAUSE).await;
    }
}
