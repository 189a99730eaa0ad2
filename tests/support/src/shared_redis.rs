//! The one Redis that the tests of a process share, each under a key prefix of its own.

use tokio::sync::OnceCell;

use super::container::RedisContainer;
use super::redis_server::RedisServer;

const ADDRESS: &str = "GRACKLE_TEST_REDIS_URL";
/// `container`: that, whatever else there is.
const KIND: &str = "GRACKLE_TEST_REDIS";

/// Where it comes from, the first that there is, unless `KIND` says.
enum SharedRedis {
    Address(String),
    Server(RedisServer),
    Container(Box<RedisContainer>),
}

// Never dropped: `child_cleanup` ends it with the process.
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
    match std::env::var(KIND).as_deref() {
        Err(_) => {}
        Ok("container") => {
            return in_container().await.unwrap_or_else(|error| panic!("{KIND}: {error}"));
        }
        Ok(other) => panic!("{KIND} is {other:?}; it can be \"container\""),
    }
    if let Ok(url) = std::env::var(ADDRESS) {
        return SharedRedis::Address(url);
    }
    if let Some(binary) = RedisServer::binary() {
        return SharedRedis::Server(RedisServer::start(binary, &[]).await);
    }
    in_container().await.unwrap_or_else(|error| {
        panic!(
            "these tests need a Redis: put valkey-server or redis-server (6.2 or newer) on PATH, \
             or its address into {ADDRESS}, or start Docker ({error})"
        )
    })
}

async fn in_container() -> Result<SharedRedis, String> {
    // Boxed, for rustc: every test has this future in its own, and their depth has a limit.
    let container = Box::pin(RedisContainer::start()).await?;
    Ok(SharedRedis::Container(Box::new(container)))
}
