//! One subscriber in place of all nodes.

use futures_util::StreamExt;
use grackle_client::scripts::{Message, Outcome as Reported};
use redis::aio::PubSub;

use crate::plan::{NAMESPACES, NODES};
use crate::spec::{Name, Said, Ticket};
use crate::stage::outcome;
use grackle_test_support::{RawConnection, TestRedis};

pub(crate) struct Subscriptions {
    raw: RawConnection,
    prefix: String,
    subscription: PubSub,
}

/// What was said, and in which namespace.
pub(crate) type Received = Vec<(Name, Said)>;

impl Subscriptions {
    pub(crate) async fn open(redis: &TestRedis) -> Self {
        let subscription = redis.raw().client().get_async_pubsub().await.expect("a connection");
        let (raw, prefix) = (redis.raw().clone(), redis.prefix().to_owned());
        let mut subscriptions = Self { raw, prefix, subscription };
        let all = NAMESPACES.map(|ns| subscriptions.channel(ns, ":nodes"));
        subscriptions
            .subscription
            .subscribe((subscriptions.end(), all.to_vec()))
            .await
            .expect("SUBSCRIBE");
        for node in NODES {
            subscriptions.returns(node).await;
        }
        subscriptions
    }

    fn channel(&self, ns: Name, suffix: &str) -> String {
        format!("{}:{{{ns}}}{suffix}", self.prefix)
    }

    fn channels(&self, node: Name) -> Vec<String> {
        NAMESPACES.map(|ns| self.channel(ns, &format!(":node:{node}"))).to_vec()
    }

    fn end(&self) -> String {
        format!("{}:end", self.prefix)
    }

    pub(crate) async fn returns(&mut self, node: Name) {
        self.subscription.subscribe(self.channels(node)).await.expect("SUBSCRIBE");
    }

    pub(crate) async fn dies(&mut self, node: Name) {
        self.subscription.unsubscribe(self.channels(node)).await.expect("UNSUBSCRIBE");
    }

    /// All since the last time: what Redis sent before a message of our own.
    pub(crate) async fn received(&mut self) -> Received {
        let end = self.end();
        let _: i64 = self.raw.run(&["PUBLISH", &end, ""]).await;
        let mut received = Vec::new();
        let mut messages = self.subscription.on_message();
        while let Some(message) = messages.next().await {
            let channel = message.get_channel_name();
            if channel == end {
                break;
            }
            let text: String = message.get_payload().expect("a text");
            let ns = NAMESPACES.into_iter().find(|ns| channel.contains(&format!("{{{ns}}}")));
            let ns = ns.unwrap_or_else(|| panic!("a message on {channel}: {text}"));
            received.push((ns, said(channel, &text)));
        }
        received
    }
}

fn said(channel: &str, text: &str) -> Said {
    let message = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    match message {
        Message::Sweep { sweep_in } => Said::Sooner { sweep_in },
        Message::Answer { calls, answer } => {
            let node = NODES.into_iter().find(|node| channel.ends_with(&format!(":node:{node}")));
            let node = node.unwrap_or_else(|| panic!("an answer on {channel}: {text}"));
            let expected = [Reported::Acquired, Reported::Error];
            assert!(expected.contains(&answer.outcome), "a message says {text}");
            let tickets = calls.iter().map(|ticket| parse(ticket)).collect();
            Said::Ended { node, tickets, how: outcome(answer) }
        }
    }
}

fn parse(ticket: &str) -> Ticket {
    let (node, number) = ticket.split_once(':').expect("<node>:<number>");
    let node = NODES.into_iter().find(|known| *known == node).expect("a node");
    Ticket { node, number: number.parse().expect("a number") }
}
