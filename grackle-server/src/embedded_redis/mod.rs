//! A private Redis or Valkey child: what runs when no Redis URL is given.
//!
//! It listens on a Unix socket alone, keeps an append-only file in the data folder, is started
//! again when it dies, and ends with the server, even with one that was killed.

mod binary;
mod data_dir;
mod error;
mod launch;
mod orphan;
mod probe;
mod process;
mod socket;
mod supervisor;

use std::path::Path;

use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use error::EmbeddedRedisError;

use crate::redis_url;
use data_dir::DataDir;
use launch::Launch;

pub(crate) struct EmbeddedRedis {
    url: String,
    /// Dropped, it tells the supervisor to stop.
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

    /// Ends it, its data safe on disk.
    pub(crate) async fn stop(self) {
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the private Redis' supervisor failed");
        }
    }
}

#[cfg(test)]
mod tests;
