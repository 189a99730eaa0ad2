//! The time of a namespace, for tests that walk hours without sleeping.

use std::time::Duration;

use crate::raw_connection::RawConnection;

/// What clients with `Config::test_clock` take for the time in one namespace.
///
/// Until it is set they go by Redis' own. It stands still between calls. A node's timers run by
/// real time: after a jump, any call into the namespace brings about what is due.
pub struct Clock {
    raw: RawConnection,
    key: String,
}

impl Clock {
    pub fn new(raw: RawConnection, prefix: &str, namespace: &str) -> Self {
        Self { raw, key: format!("{prefix}:{{{namespace}}}:clock") }
    }

    /// Makes it that many microseconds since the epoch.
    pub async fn set(&self, micros: i64) {
        let _: () = self.raw.run(&["SET", &self.key, &micros.to_string()]).await;
    }

    /// Moves it on; from Redis' own time, if it has never been set.
    pub async fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).expect("a shorter time");
        self.set(self.now().await + by).await;
    }

    /// Microseconds since the epoch.
    pub async fn now(&self) -> i64 {
        let set: Option<i64> = self.raw.run(&["GET", &self.key]).await;
        match set {
            Some(micros) => micros,
            None => self.redis_time().await,
        }
    }

    async fn redis_time(&self) -> i64 {
        let (seconds, micros): (i64, i64) = self.raw.run(&["TIME"]).await;
        seconds * 1_000_000 + micros
    }
}
