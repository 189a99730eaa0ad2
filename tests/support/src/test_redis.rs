//! Where a test's Redis comes from.

use std::path::PathBuf;

use grackle_client::{Client, Config};
use redis::FromRedisValue;

use super::namespace_clock::Clock;
use super::own_redis::OwnRedis;
use super::{leftovers, shared_redis};
use crate::raw_connection::RawConnection;

/// A real Redis, and a key prefix there that no other test uses.
///
/// [`TestRedis::shared`] is for most tests: they run beside each other on one server.
/// [`TestRedis::own`] is for those that break the server, or count what it does.
pub struct TestRedis {
    url: String,
    tls_ca_file: Option<PathBuf>,
    prefix: String,
    /// A connection to each server that has keys: one, but in a cluster.
    masters: Vec<RawConnection>,
}

impl TestRedis {
    /// The server that all tests of this process share.
    pub async fn shared() -> Self {
        Self::at(shared_redis::url().await).await
    }

    /// A server process for this test alone; it keeps nothing on disk.
    pub async fn own() -> OwnRedis {
        Self::own_with(&[]).await
    }

    /// A server process for this test alone, with options such as `["--appendonly", "yes"]`.
    pub async fn own_with(options: &[&str]) -> OwnRedis {
        OwnRedis::start(options).await
    }

    pub async fn at(url: String) -> Self {
        let raw = RawConnection::new(&url);
        Self::laid_out(url, vec![raw]).await
    }

    /// Where clients go by that URL, and this fixture to the servers that have the keys.
    pub async fn laid_out(url: String, masters: Vec<RawConnection>) -> Self {
        for master in &masters {
            let _: String = master.run(&["PING"]).await;
        }
        Self { url, tls_ca_file: None, prefix: fresh_prefix(), masters }
    }

    /// Has clients trust the certificates in that file.
    pub fn trusting(self, tls_ca_file: PathBuf) -> Self {
        Self { tls_ca_file: Some(tls_ca_file), ..self }
    }

    /// Other servers have the keys from now on.
    pub fn masters_are(&mut self, masters: Vec<RawConnection>) {
        self.masters = masters;
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The configuration of a client here.
    pub fn config(&self) -> Config {
        let mut config = Config::new(&self.url);
        config.key_prefix.clone_from(&self.prefix);
        config.tls_ca_file.clone_from(&self.tls_ca_file);
        config
    }

    /// A client here; each call is another node.
    pub async fn client(&self) -> Client {
        Client::connect_with(self.config()).await.expect("Redis is there")
    }

    /// A client here whose namespaces go by their [`TestRedis::clock`].
    pub async fn client_on_test_clock(&self) -> Client {
        let mut config = self.config();
        config.test_clock = true;
        Client::connect_with(config).await.expect("Redis is there")
    }

    /// The clock of a namespace, for clients that look at it.
    pub fn clock(&self, namespace: &str) -> Clock {
        Clock::new(self.raw().clone(), &self.prefix, namespace)
    }

    /// A plain connection.
    pub fn raw(&self) -> &RawConnection {
        &self.masters[0]
    }

    /// Runs a command, given as the words one would type into `redis-cli`.
    pub async fn run<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.raw().run(words).await
    }

    /// The same, where that key is: elsewhere it is answered MOVED.
    pub async fn run_where_it_is<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut answers = Vec::new();
        for master in &self.masters {
            match master.try_run(words).await {
                Ok(answer) => return answer,
                Err(error) => answers.push(error),
            }
        }
        panic!("{}: {answers:?}", words.join(" "));
    }

    /// Every key under the prefix, sorted.
    pub async fn keys_left(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for master in &self.masters {
            keys.extend(keys_of(master, &format!("{}:*", self.prefix)).await);
        }
        keys.sort();
        keys.dedup();
        keys
    }

    /// Ends every lease; then only namespaces and their semaphores may be left, nothing held and
    /// nobody waiting, and after deleting those nothing at all.
    pub async fn assert_nothing_left(&self, client: &Client) {
        leftovers::assert_none(self, client).await;
    }
}

async fn keys_of(master: &RawConnection, pattern: &str) -> Vec<String> {
    let (mut cursor, mut keys) = (0_u64, Vec::new());
    loop {
        let scan = ["SCAN", &cursor.to_string(), "MATCH", pattern, "COUNT", "1000"];
        let (next, page): (u64, Vec<String>) = master.run(&scan).await;
        keys.extend(page);
        cursor = next;
        if cursor == 0 {
            return keys;
        }
    }
}

fn fresh_prefix() -> String {
    let alphabet: Vec<char> = ('a'..='z').chain('0'..='9').collect();
    format!("test-{}", nanoid::nanoid!(16, &alphabet))
}
