//! The commands that clients send to Redis, one by one.

use std::pin::Pin;

use futures_util::{Stream, StreamExt};

use crate::raw_connection::RawConnection;

const END: &str = "the-monitor-ends-here";

/// MONITOR on a connection of its own.
pub struct Monitor {
    raw: RawConnection,
    lines: Pin<Box<dyn Stream<Item = String> + Send>>,
}

impl Monitor {
    pub async fn start(raw: RawConnection) -> Self {
        let monitor = raw.client().get_async_monitor().await.expect("MONITOR");
        Self { raw, lines: Box::pin(monitor.into_on_message()) }
    }

    /// Every command that a client sent since the start, such as `"EVALSHA" "5f…" "1" …`, without
    /// those that scripts ran inside.
    pub async fn finish(mut self) -> Vec<String> {
        let _: String = self.raw.run(&["ECHO", END]).await;
        let until_end = self.lines.by_ref().take_while(|line| {
            let more = !line.contains(END);
            async move { more }
        });
        until_end.filter_map(async |line| sent_by_client(&line)).collect().await
    }
}

/// `1700000000.000001 [0 127.0.0.1:4000] "GET" "key"`; scripts have `[0 lua]`.
fn sent_by_client(line: &str) -> Option<String> {
    let (from, command) = line.split_once("] ")?;
    (!from.ends_with("lua")).then(|| command.to_owned())
}
