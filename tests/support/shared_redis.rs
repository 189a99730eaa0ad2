//! The one Redis that the tests of a process share, each under a key prefix of its own.

use tokio::sync::OnceCell;

use super::container::RedisContainer;
use super::redis_server::RedisServer;

const ADDRESS: &str = "GRACKLE_TEST_REDIS_URL";

/// Where it comes from, the first that there is.
enum SharedRedis {
    Address(String),
    Server(RedisServer),
    Container(Box<RedisContainer>),
}

// Never dropped: the reapers end it with the process.
static SHARED: OnceCell<SharedRedis> = OnceCell::const_new();

/// Its address; the first call starts it.
pub(crate) async fn url() -> String {
    match SHARED.get_or_init(start).await {
        SharedRedis::Address(url) => url.clone(),
        SharedRedis::Server(server) => server.url(),
        SharedRedis::Container(container) => container.url().to_owned(),
    }
}

async fn start() -> SharedRedis {
    if let Ok(url) = std::env::var(ADDRESS) {
        return SharedRedis::Address(url);
    }
    if let Some(binary) = RedisServer::binary() {
        return SharedRedis::Server(RedisServer::start(binary, &[]).await);
    }
    match RedisContainer::start().await {
        Ok(container) => SharedRedis::Container(Box::new(container)),
        Err(error) => panic!(
            "these tests need a Redis: put valkey-server or redis-server (6.2 or newer) on PATH, \
             or its address into {ADDRESS}, or start Docker ({error})"
        ),
    }
}
