//! The connection to one server on which messages arrive; it is made again whenever it breaks.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deadpool_redis::redis::aio::{PubSubSink, PubSubStream};
use deadpool_redis::redis::{self, RedisError};
use futures_util::StreamExt;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, interval_at, timeout};

use crate::engine::subscriber::inbox::Inbox;
use crate::engine::subscriber::topic::Topic;
use crate::engine::subscriber::topic_servers::{Placement, Request};
use crate::transport::backoff::Backoff;
use crate::transport::topology::{Address, Topology};

/// An unanswered ping shows that a connection is dead that went silent without closing.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Topics that one SUBSCRIBE names.
const BATCH: usize = 500;

pub(crate) struct SubscriberConnection {
    topology: Arc<Topology>,
    address: Address,
    node_id: String,
    /// How long Redis may take to connect, or to answer a command.
    timeout: Duration,
    placement: Arc<Placement>,
    inbox: Arc<Inbox>,
    requests: UnboundedReceiver<Request>,
    /// All topics that were requested so far.
    topics: HashSet<Topic>,
    /// The number of the present subscription.
    subscription: u64,
}

/// Why receiving ended.
enum End {
    /// Nobody requests anything any more.
    Client,
    /// The connection broke: make another.
    Connection(RedisError),
}

impl From<RedisError> for End {
    fn from(error: RedisError) -> Self {
        Self::Connection(error)
    }
}

impl SubscriberConnection {
    pub(crate) fn new(
        topology: Arc<Topology>,
        address: Address,
        node_id: String,
        timeout: Duration,
        (placement, inbox): (Arc<Placement>, Arc<Inbox>),
        requests: UnboundedReceiver<Request>,
    ) -> Self {
        let (topics, subscription) = (HashSet::new(), 0);
        Self {
            topology,
            address,
            node_id,
            timeout,
            placement,
            inbox,
            requests,
            topics,
            subscription,
        }
    }

    /// Receives, on a new connection whenever one breaks, until the client ends.
    pub(crate) async fn run(mut self) {
        let mut backoff = Backoff::new();
        while self.is_wanted().await {
            let began = Instant::now();
            let Err(End::Connection(error)) = self.receive().await else {
                return;
            };
            if began.elapsed() > Backoff::LONGEST {
                backoff = Backoff::new();
            }
            log_lost(&error, &backoff);
            // Topics that have moved to another server must not be marked as unsubscribed here.
            while let Ok(request) = self.requests.try_recv() {
                self.note(request);
            }
            self.inbox.unsubscribed(&self.topics, self.subscription);
            backoff.wait().await;
        }
    }

    /// Waits until there is a topic to subscribe to; false where the client has ended.
    async fn is_wanted(&mut self) -> bool {
        loop {
            while let Ok(request) = self.requests.try_recv() {
                self.note(request);
            }
            if !self.topics.is_empty() {
                return true;
            }
            match self.requests.recv().await {
                Some(request) => self.note(request),
                None => return false,
            }
        }
    }

    async fn receive(&mut self) -> Result<(), End> {
        let connect = async { self.topology.client(&self.address).await?.get_async_pubsub().await };
        let (sink, stream) = in_time(self.timeout, connect).await?.split();
        // Messages are read while SUBSCRIBE waits for its answer, so that it delays no hand-off.
        let inbox = Arc::clone(&self.inbox);
        tokio::select! {
            end = read(stream, inbox) => end,
            end = self.subscribe(sink) => end,
        }
    }

    async fn subscribe(&mut self, mut sink: PubSubSink) -> Result<(), End> {
        self.subscription = self.inbox.waiters.next_subscription();
        let topics: Vec<Topic> = self.topics.iter().cloned().collect();
        for topics in topics.chunks(BATCH) {
            self.add(&mut sink, topics).await?;
        }
        let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        loop {
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => self.change(&mut sink, request).await?,
                    None => return Err(End::Client),
                },
                _ = ping.tick() => {
                    in_time(self.timeout, sink.ping::<redis::Value>()).await?;
                }
            }
        }
    }

    /// Follows the requests; one SUBSCRIBE serves as many as there are.
    async fn change(&mut self, sink: &mut PubSubSink, first: Request) -> Result<(), End> {
        let (mut next, mut new) = (Some(first), Vec::new());
        while let Some(request) = next.take() {
            match request {
                Request::Subscribe(topic) => {
                    self.topics.insert(topic.clone());
                    new.push(topic);
                }
                Request::Reconnect => return Err(unknown_subscription()),
                Request::Unsubscribe(topic) => {
                    self.topics.remove(&topic);
                    new.retain(|other| *other != topic);
                    in_time(self.timeout, sink.unsubscribe(self.channels(&[topic]))).await?;
                }
            }
            if new.len() < BATCH {
                next = self.requests.try_recv().ok();
            }
        }
        self.add(sink, &new).await
    }

    async fn add(&self, sink: &mut PubSubSink, topics: &[Topic]) -> Result<(), End> {
        if topics.is_empty() {
            return Ok(());
        }
        in_time(self.timeout, sink.subscribe(self.channels(topics))).await?;
        // A topic may have moved to another server meanwhile.
        let here = self.placement.at(&self.address, topics);
        self.inbox.subscribed(here, self.subscription);
        Ok(())
    }

    fn note(&mut self, request: Request) {
        match request {
            Request::Subscribe(topic) => drop(self.topics.insert(topic)),
            Request::Unsubscribe(topic) => drop(self.topics.remove(&topic)),
            Request::Reconnect => {}
        }
    }

    fn channels(&self, topics: &[Topic]) -> Vec<String> {
        topics.iter().flat_map(|topic| topic.channels(&self.inbox.keys, &self.node_id)).collect()
    }
}

async fn read(mut stream: PubSubStream, inbox: Arc<Inbox>) -> Result<(), End> {
    while let Some(message) = stream.next().await {
        inbox.receive(message.get_channel_name(), message.get_payload_bytes());
    }
    Err(End::Connection((redis::ErrorKind::Io, "the subscriber's connection was closed").into()))
}

/// One warning an outage; later tries are debug lines.
fn log_lost(error: &RedisError, backoff: &Backoff) {
    if backoff.is_fresh() {
        tracing::warn!(%error, "lost the subscriber's connection to Redis; reconnecting");
    } else {
        tracing::debug!(%error, "the subscriber still has no connection to Redis");
    }
}

async fn in_time<T>(
    limit: Duration,
    command: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, End> {
    match timeout(limit, command).await {
        Ok(result) => Ok(result?),
        Err(_) => {
            let silent = "the subscriber's connection is silent";
            Err(End::Connection((redis::ErrorKind::Io, silent).into()))
        }
    }
}

fn unknown_subscription() -> End {
    End::Connection((redis::ErrorKind::Io, "Redis does not know the subscription").into())
}
