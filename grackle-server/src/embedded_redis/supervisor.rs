//! Keeps the child alive until the server stops.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::error::EmbeddedRedisError;
use super::launch::Launch;
use super::process::Process;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Owns the launch, and with it the data folder's lock, until the child has ended.
pub(super) async fn supervise(launch: Launch, mut process: Process, stop: CancellationToken) {
    loop {
        match stop.run_until_cancelled(process.ended()).await {
            None => return process.stop().await,
            Some(status) => {
                let status = status.map_or_else(|error| error.to_string(), |how| how.to_string());
                let log = launch.log();
                tracing::warn!(status, ?log, "the private Redis died: starting it again");
            }
        }
        let Some(next) = start_again(&launch, &stop).await else {
            return;
        };
        process = next;
    }
}

/// Tries until it is up; `None` means that the server stops, and nothing runs.
async fn start_again(launch: &Launch, stop: &CancellationToken) -> Option<Process> {
    let mut pause = FIRST_PAUSE;
    loop {
        stop.run_until_cancelled(tokio::time::sleep(pause)).await?;
        match attempt(launch, stop).await {
            Ok(started) => return started,
            Err(error) => tracing::error!("{error}"),
        }
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

async fn attempt(
    launch: &Launch,
    stop: &CancellationToken,
) -> Result<Option<Process>, EmbeddedRedisError> {
    let mut process = launch.spawn()?;
    let Some(ready) = stop.run_until_cancelled(launch.ready(&mut process)).await else {
        process.stop().await;
        return Ok(None);
    };
    ready?;
    tracing::info!("the private Redis is up again");
    Ok(Some(process))
}
