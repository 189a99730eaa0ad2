//! Waiting for what comes about in its own time.

use std::time::Duration;

use tokio::time::{Instant, sleep};

const EVERY: Duration = Duration::from_millis(5);

/// Asks until there is an answer; fails the test, naming `what`, when there is none `within` that.
pub(crate) async fn eventually<T>(
    what: &str,
    within: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + within;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "not within {within:?}: {what}");
        sleep(EVERY).await;
    }
}
