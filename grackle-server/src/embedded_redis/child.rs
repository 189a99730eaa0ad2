//! The private Redis, from its start to its end.

use std::path::Path;

use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::data_dir::DataDir;
use super::error::EmbeddedRedisError;
use super::launch::Launch;
use super::{binary, orphan, supervisor};
use crate::config::redis_url;

pub(crate) struct EmbeddedRedis {
    url: String,
    /// Dropping it stops the supervisor.
    stop: DropGuard,
    supervisor: JoinHandle<()>,
}

impl EmbeddedRedis {
    /// Starts it on `data_dir` and waits until its data is loaded.
    pub(crate) async fn start(data_dir: &Path) -> Result<Self, EmbeddedRedisError> {
        let binary = binary::find()?;
        let data_dir = DataDir::open(data_dir)?;
        orphan::end(data_dir.path()).await?;
        let launch = Launch::prepare(binary, data_dir)?;
        let mut process = launch.spawn()?;
        launch.ready(&mut process).await?;
        let socket = launch.socket();
        tracing::info!("private Redis is up; look at it with: redis-cli -s {}", socket.display());
        let url = redis_url::of_socket(socket);
        let stop = CancellationToken::new();
        let supervisor = tokio::spawn(supervisor::supervise(launch, process, stop.clone()));
        Ok(Self { url, stop: stop.drop_guard(), supervisor })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Stops it once its data is safe on disk.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the private Redis' supervisor failed");
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
