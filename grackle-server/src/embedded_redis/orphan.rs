//! The child of a server that was killed: it is about to end by itself, and has to be gone before
//! another one opens the same append-only file.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::error::EmbeddedRedisError;
use super::socket;

const END_WITHIN: Duration = Duration::from_secs(10);

/// Ends whatever listens on the data folder's socket; the caller has locked the folder.
pub(super) async fn end(data_dir: &Path) -> Result<(), EmbeddedRedisError> {
    let path = socket::last(data_dir);
    let connected = timeout(END_WITHIN, UnixStream::connect(&path)).await;
    if let Ok(Ok(mut stream)) = connected {
        end_peer(&mut stream).await?;
    }
    socket::clear(data_dir).map_err(EmbeddedRedisError::at(path))
}

/// The socket's owner is known from the connection, so no other process can be meant.
async fn end_peer(stream: &mut UnixStream) -> Result<(), EmbeddedRedisError> {
    let Some(pid) = stream.peer_cred().ok().and_then(|peer| peer.pid()) else {
        return Ok(());
    };
    tracing::warn!(pid, "stopping the private Redis of a server that was killed");
    for signal in [Signal::TERM, Signal::KILL] {
        // It may be ending already, so a failure says nothing: only its end counts.
        let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, signal));
        if timeout(END_WITHIN, ended(stream)).await.is_ok() {
            return Ok(());
        }
    }
    Err(EmbeddedRedisError::Orphan { pid })
}

/// It has been asked nothing, so what ends the stream is its end.
async fn ended(stream: &mut UnixStream) {
    while !matches!(stream.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
}
