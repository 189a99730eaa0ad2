//! Is the child ready? Asked in Redis' inline protocol, for which no client is needed.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

const EVERY: Duration = Duration::from_millis(20);
const TELL_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, PartialEq, Eq)]
enum Loading {
    Done,
    /// Percent, as Redis puts it.
    At(String),
}

/// Waits until the data is loaded, telling how far it is where that takes long.
pub(super) async fn ready(socket: &Path) {
    let mut told = Instant::now();
    loop {
        let answer = timeout(TELL_EVERY, ask(socket)).await;
        if matches!(answer, Ok(Ok(Loading::Done))) {
            return;
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            tell(&answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())));
        }
        sleep(EVERY).await;
    }
}

fn tell(answer: &io::Result<Loading>) {
    match answer {
        Ok(Loading::At(percent)) => tracing::info!("private Redis loads its data: {percent} %"),
        Ok(Loading::Done) => {}
        Err(error) => tracing::info!(%error, "private Redis does not answer yet"),
    }
}

async fn ask(socket: &Path) -> io::Result<Loading> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(b"INFO persistence\r\n").await?;
    let mut lines = BufReader::new(stream).lines();
    while let Some(line) = lines.next_line().await? {
        match line.split_once(':') {
            Some(("loading", "0")) => return Ok(Loading::Done),
            Some(("loading_loaded_perc", percent)) => return Ok(Loading::At(percent.to_owned())),
            _ => {}
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
