//! Readiness: whether Redis answers and takes writes.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use grackle_client::{Client, Error, RedisWarning};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::error::{ApiError, Code};

/// Probes that wait longer would pile up while Redis hangs.
const WITHIN: Duration = Duration::from_secs(1);

/// A cluster is usable while one of its servers hangs: then the last warnings count.
const CHECK_WITHIN: Duration = Duration::from_millis(500);

/// Settings and roles change rarely, and probes may come in numbers.
const CHECK_EVERY: Duration = Duration::from_secs(3);

/// The last warnings. A Redis that can't be used is asked again each time.
#[derive(Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Instant, Vec<RedisWarning>)>>,
}

impl Readiness {
    /// The page of `/readyz`: `ready`, and a line for each warning.
    pub(crate) async fn page(&self, client: &Client) -> Result<String, ApiError> {
        timeout(WITHIN, client.ping()).await.map_err(|_| silent())??;
        let warnings = match timeout(CHECK_WITHIN, self.check(client)).await {
            Ok(warnings) => warnings?,
            Err(_) => {
                self.last.lock().await.as_ref().map(|last| last.1.clone()).unwrap_or_default()
            }
        };
        match warnings.iter().find(|warning| warning.is_fatal()) {
            Some(fatal) => Err(ApiError::new(Code::Unavailable, format!("unavailable: {fatal}"))),
            None => Ok(ready(&warnings)),
        }
    }

    async fn check(&self, client: &Client) -> Result<Vec<RedisWarning>, Error> {
        let mut last = self.last.lock().await;
        if let Some((at, warnings)) = &*last
            && at.elapsed() < CHECK_EVERY
        {
            return Ok(warnings.clone());
        }
        let warnings = client.redis_warnings().await?;
        let usable = !warnings.iter().any(RedisWarning::is_fatal);
        *last = usable.then(|| (Instant::now(), warnings.clone()));
        Ok(warnings)
    }
}

fn ready(warnings: &[RedisWarning]) -> String {
    let mut page = "ready\n".to_owned();
    for warning in warnings {
        // Writing to a string can't fail.
        let _ = writeln!(page, "warning: {warning}");
    }
    page
}

fn silent() -> ApiError {
    let message = format!("unavailable: Redis did not answer PING within {WITHIN:?}");
    ApiError::new(Code::Unavailable, message)
}
