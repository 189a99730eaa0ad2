//! A master and its replicas, with nobody who watches them.

use std::ops::Deref;
use std::time::Duration;

use grackle_client::{Client, ReplicaAcks};

use super::breakable_link::Link;
use super::own_redis::OwnRedis;
use super::redis_server::RedisServer;
use super::replica_progress;
use super::test_redis::TestRedis;
use crate::raw_connection::RawConnection;

/// No delay before a replica is sent what it lacks.
const QUICK: [&str; 4] = ["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"];

/// A [`TestRedis`] whose master has replicas, each behind a link that can break.
pub struct Replicas {
    master: OwnRedis,
    replicas: Vec<(RedisServer, Link)>,
}

impl Replicas {
    /// Starts so many, and waits until they follow.
    pub async fn start(count: usize) -> Self {
        let master = TestRedis::own_with(&QUICK).await;
        let mut replicas = Vec::new();
        for _ in 0..count {
            let link = Link::to(&master).await;
            let port = link.url().rsplit_once(':').expect("a port").1.to_owned();
            let options = [&QUICK[..], &["--replicaof", "127.0.0.1", &port]].concat();
            replicas.push((RedisServer::start(RedisServer::needed(), &options).await, link));
        }
        replica_progress::follow(master.raw(), count).await;
        // One that follows is sent nothing until it has said so, which takes up to a second.
        let _: String = master.run(&["SET", "none", "0"]).await;
        let _: i64 = master.run(&["DEL", "none"]).await;
        replica_progress::catch_up(master.raw(), count).await;
        Self { master, replicas }
    }

    /// A client whose grants wait for so many replicas.
    pub async fn client_waiting_for(&self, replicas: u32, within: Duration) -> Client {
        let mut config = self.config();
        config.replica_acks = Some(ReplicaAcks::new(replicas, within));
        Client::connect_with(config).await.expect("Redis is there")
    }

    /// SIGSTOP: it follows no more, and its connection stays open.
    pub fn freeze(&mut self, replica: usize) {
        self.replicas[replica].0.process().stop();
    }

    /// SIGCONT.
    pub fn thaw(&mut self, replica: usize) {
        self.replicas[replica].0.process().cont();
    }

    /// From now on nothing reaches it; what is on its way is lost with [`Replicas::promote`].
    pub fn cut_off(&mut self, replica: usize) {
        self.replicas[replica].1.go_silent();
    }

    /// SIGKILL.
    pub fn kill_master(&mut self) {
        self.master.kill();
    }

    /// Has the replica take the place of a master that was killed; its connection.
    pub async fn promote(&self, replica: usize) -> RawConnection {
        let (server, _) = &self.replicas[replica];
        let raw = server.raw();
        let _: String = raw.run(&["REPLICAOF", "NO", "ONE"]).await;
        raw
    }

    /// A client of that replica, under the same prefix.
    pub async fn client_of(&self, replica: usize) -> Client {
        let mut config = self.config();
        config.redis_url = self.replicas[replica].0.url();
        Client::connect_with(config).await.expect("it is a master by now")
    }

    pub fn url_of(&self, replica: usize) -> String {
        self.replicas[replica].0.url()
    }

    /// The master, to count and to break.
    pub fn master(&self) -> &OwnRedis {
        &self.master
    }
}

impl Deref for Replicas {
    type Target = TestRedis;

    fn deref(&self) -> &TestRedis {
        &self.master
    }
}
