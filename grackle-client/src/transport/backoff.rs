//! How long to wait between two tries to reach Redis.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(500);

/// A pause that doubles, from 10 ms up to 0.5 s.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Backoff {
    /// The longest pause.
    pub(crate) const LONGEST: Duration = LONGEST;

    pub(crate) fn new() -> Self {
        Self(FIRST)
    }

    /// The next pause.
    pub(crate) fn pause(&self) -> Duration {
        self.0
    }

    /// True before the first pause.
    pub(crate) fn is_fresh(&self) -> bool {
        self.0 == FIRST
    }

    /// Takes the pause; the next one is longer.
    pub(crate) async fn wait(&mut self) {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        tokio::time::sleep(pause).await;
    }
}
