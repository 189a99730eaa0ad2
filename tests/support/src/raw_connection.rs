//! A plain connection to Redis, beside Grackle, for looking at what Grackle left there.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, FromRedisValue, RedisResult};
use tokio::sync::Mutex;

/// On a busy machine even a look at Redis takes its time, and that is no verdict.
const PATIENT: Duration = Duration::from_secs(60);

/// One connection, opened when needed, and again when it was lost.
#[derive(Clone)]
pub struct RawConnection {
    client: redis::Client,
    kept: Arc<Mutex<Option<MultiplexedConnection>>>,
}

impl RawConnection {
    pub fn new(url: &str) -> Self {
        let client = redis::Client::open(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        Self { client, kept: Arc::default() }
    }

    pub fn client(&self) -> &redis::Client {
        &self.client
    }

    /// Runs a command, given as the words one would type into `redis-cli`.
    pub async fn run<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let answer = self.try_run(words).await;
        answer.unwrap_or_else(|error| panic!("{}: {error}", words.join(" ")))
    }

    /// As [`RawConnection::run`], where Redis may refuse or be away.
    pub async fn try_run<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        match self.once(words).await {
            Err(error) if error.is_unrecoverable_error() => {
                self.forget().await;
                self.once(words).await
            }
            answer => answer,
        }
    }

    async fn once<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        let mut connection = self.connection().await?;
        redis::cmd(words[0]).arg(&words[1..]).query_async(&mut connection).await
    }

    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let mut kept = self.kept.lock().await;
        if let Some(connection) = kept.as_ref() {
            return Ok(connection.clone());
        }
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENT))
            .set_response_timeout(Some(PATIENT));
        let connection = self.client.get_multiplexed_async_connection_with_config(&patient).await?;
        Ok(kept.insert(connection).clone())
    }

    async fn forget(&self) {
        self.kept.lock().await.take();
    }
}
