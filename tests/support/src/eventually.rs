//! Waiting for what comes about in its own time.

use std::time::Duration;

use tokio::time::{Instant, sleep};

const EVERY: Duration = Duration::from_millis(5);
/// What is about to come about has come about by then, on a slow machine too.
pub const SOON: Duration = Duration::from_secs(10);
/// Longer than any test: who is to wait that long has not been answered.
pub const FOR_EVER: Duration = Duration::from_secs(60);

/// Asks until there is an answer; fails the test, naming `what`, when there is none `within` that.
pub async fn eventually<T>(
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
