//! A Redis for one test alone, to break and to count.

use std::ops::Deref;
use std::path::Path;

use super::command_calls::CommandCalls;
use super::monitor::Monitor;
use super::process_clock::ProcessClock;
use super::redis_server::RedisServer;
use super::test_redis::TestRedis;

/// A [`TestRedis`] whose server process nobody shares.
pub struct OwnRedis {
    redis: TestRedis,
    server: RedisServer,
}

impl OwnRedis {
    pub async fn start(options: &[&str]) -> Self {
        Self::start_by(options, None).await
    }

    /// By that clock.
    pub async fn start_by(options: &[&str], clock: Option<ProcessClock>) -> Self {
        let server = RedisServer::start_by(RedisServer::needed(), options, clock).await;
        Self { redis: TestRedis::at(server.url()).await, server }
    }

    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Where it keeps its files.
    pub fn folder(&self) -> &Path {
        self.server.folder()
    }

    /// Ends it (SIGTERM) and starts it again on the same port, with what `--appendonly yes` kept.
    pub async fn restart(&mut self) {
        self.server.terminate().await;
        self.server.start_again().await;
    }

    /// Kills it between two instructions (SIGKILL).
    pub fn kill(&mut self) {
        self.server.process().kill();
    }

    /// Starts it again after [`OwnRedis::kill`], on the same port.
    pub async fn start_again(&mut self) {
        self.server.start_again().await;
    }

    /// Stops it (SIGSTOP): it answers nothing, its connections stay open.
    pub fn stop(&mut self) {
        self.server.process().stop();
    }

    /// Lets it go on (SIGCONT).
    pub fn cont(&mut self) {
        self.server.process().cont();
    }

    /// How often each command has run since the start, those inside scripts too.
    pub async fn command_calls(&self) -> CommandCalls {
        let info: String = self.run(&["INFO", "commandstats"]).await;
        CommandCalls::parse(&info)
    }

    /// Client connections but this fixture's own.
    pub async fn connected_clients(&self) -> usize {
        let list: String = self.run(&["CLIENT", "LIST"]).await;
        list.lines().count() - 1
    }

    /// Notes every command that clients send from now on.
    pub async fn monitor(&self) -> Monitor {
        Monitor::start(self.raw().clone()).await
    }
}

impl Deref for OwnRedis {
    type Target = TestRedis;

    fn deref(&self) -> &TestRedis {
        &self.redis
    }
}
