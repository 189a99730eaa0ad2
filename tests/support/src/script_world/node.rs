//! What a node is to the scripts: an id in tickets, and somebody who hears its channel.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use grackle_client::scripts::{AcquireReply, Call, Message, Outcome};
use redis::aio::PubSub;
use serde::de::DeserializeOwned;

use super::{SEM, lease_id};
use crate::raw_connection::RawConnection;

const END: &str = "that-is-all";

/// A subscription to one channel.
pub struct Subscription {
    raw: RawConnection,
    channel: String,
    subscription: PubSub,
    open: bool,
}

impl Subscription {
    pub(crate) async fn on(raw: &RawConnection, channel: String) -> Self {
        let subscription = raw.client().get_async_pubsub().await.expect("a connection");
        let mut subscription = Self { raw: raw.clone(), channel, subscription, open: false };
        subscription.open().await;
        subscription
    }

    async fn open(&mut self) {
        self.subscription.subscribe(&self.channel).await.expect("SUBSCRIBE");
        self.open = true;
    }

    async fn close(&mut self) {
        self.subscription.unsubscribe(&self.channel).await.expect("UNSUBSCRIBE");
        self.open = false;
    }

    /// Every message since the last time: what Redis sent before a message of our own.
    pub async fn messages(&mut self) -> Vec<Message> {
        self.messages_as().await
    }

    /// The same, of a channel whose messages are others.
    pub async fn messages_as<T: DeserializeOwned>(&mut self) -> Vec<T> {
        if !self.open {
            return Vec::new();
        }
        let _: i64 = self.raw.run(&["PUBLISH", &self.channel, END]).await;
        let stream = self.subscription.on_message();
        let texts = stream.map(|message| message.get_payload::<String>().expect("a text"));
        let texts: Vec<_> =
            texts.take_while(|text| std::future::ready(text != END)).collect().await;
        let parse = |text: String| {
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        texts.into_iter().map(parse).collect()
    }
}

/// A node that listens, until it is told otherwise.
pub struct Node {
    pub id: String,
    subscription: Subscription,
    next: AtomicU64,
}

impl Node {
    pub(crate) async fn new(raw: &RawConnection, namespace: &str, id: &str) -> Self {
        let subscription = Subscription::on(raw, format!("{namespace}:node:{id}")).await;
        Self { id: id.to_owned(), subscription, next: AtomicU64::new(0) }
    }

    /// A new call of the lease that has this short name, on the usual semaphore.
    pub fn call(&self, lease: &str) -> Call {
        self.call_on(SEM, lease)
    }

    pub fn call_on(&self, semaphore: &str, lease: &str) -> Call {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let ticket = format!("{}:{number}", self.id);
        Call { lease_id: lease_id(lease), semaphore: semaphore.to_owned(), ticket }
    }

    /// Nobody hears its channel any more.
    pub async fn dies(&mut self) {
        self.subscription.close().await;
    }

    /// It subscribes again; what was said meanwhile is lost.
    pub async fn returns(&mut self) {
        self.subscription.open().await;
    }

    /// What it has received since the last time, as [`granted`] and [`told`] write it.
    pub async fn received(&mut self) -> Vec<String> {
        let text = |message| match message {
            Message::Answer { calls, answer } => match answer.error {
                Some(error) => format!("{error} {}", calls.join(" ")),
                None => format!("{:?} {}", answer.outcome, calls.join(" ")),
            },
            Message::Sweep { sweep_in } => format!("sweep in {sweep_in}"),
        };
        self.subscription.messages().await.into_iter().map(text).collect()
    }

    /// The one answer that it has received since the last time.
    pub async fn answer(&mut self) -> AcquireReply {
        match self.subscription.messages().await.pop() {
            Some(Message::Answer { answer, .. }) => answer,
            other => panic!("no answer but {other:?}"),
        }
    }
}

/// A message that these calls hold what they waited for.
pub fn granted(calls: &[&Call]) -> String {
    told(&format!("{:?}", Outcome::Acquired), calls)
}

/// A message that these calls have ended so.
pub fn told(how: &str, calls: &[&Call]) -> String {
    let tickets: Vec<_> = calls.iter().map(|call| call.ticket.as_str()).collect();
    format!("{how} {}", tickets.join(" "))
}
