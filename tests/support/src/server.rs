//! A Grackle server inside the test process.

use std::net::SocketAddr;

use grackle_server::{Config, run};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::test_redis::TestRedis;

/// A server on a free port; dropped, it closes every connection at once.
pub struct TestServer {
    url: String,
    shutdown: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl TestServer {
    /// On that Redis, under its prefix.
    pub async fn start(redis: &TestRedis) -> Self {
        Self::start_with(config(redis)).await
    }

    /// With any configuration, such as a changed [`config`].
    pub async fn start_with(config: Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (shutdown, told) = oneshot::channel();
        let running = tokio::spawn(async move {
            let told = async { drop(told.await) };
            run(config, listener, told).await.expect("the server starts");
        });
        Self { url: url(address), shutdown, running }
    }

    /// `http://127.0.0.1:<port>`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Tells it to stop, as SIGTERM does, and waits until it has.
    pub async fn stop(mut self) {
        let (never, _) = oneshot::channel();
        let _ = std::mem::replace(&mut self.shutdown, never).send(());
        (&mut self.running).await.expect("no panic");
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The configuration of a server on that Redis, under its prefix.
pub fn config(redis: &TestRedis) -> Config {
    let mut config = Config::default();
    config.redis_url = Some(redis.url().to_owned());
    config.key_prefix = redis.prefix().to_owned();
    config
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}
