//! Is this server of use? It is while its Redis answers, and takes what is written.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use grackle_client::{Client, Error, RedisWarning};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::error::{ApiError, Code};

/// A probe that waits longer would pile up on a Redis that hangs.
const WITHIN: Duration = Duration::from_secs(1);

/// A cluster of which one server hangs is of use all the same: then what was seen last stands.
const LOOK_WITHIN: Duration = Duration::from_millis(500);

/// Settings and roles change rarely, and probes may come in numbers.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// What was seen at the last look; a Redis that can't be used is looked at each time.
#[derive(Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Instant, Vec<RedisWarning>)>>,
}

impl Readiness {
    /// What `/readyz` says: `ready`, and a line for each warning.
    pub(crate) async fn of(&self, client: &Client) -> Result<String, ApiError> {
        timeout(WITHIN, client.ping()).await.map_err(|_| silent())??;
        let warnings = match timeout(LOOK_WITHIN, self.look(client)).await {
            Ok(warnings) => warnings?,
            Err(_) => {
                self.last.lock().await.as_ref().map(|last| last.1.clone()).unwrap_or_default()
            }
        };
        match warnings.iter().find(|warning| warning.is_fatal()) {
            Some(fatal) => Err(ApiError::new(Code::Unavailable, format!("unavailable: {fatal}"))),
            None => Ok(page(&warnings)),
        }
    }

    async fn look(&self, client: &Client) -> Result<Vec<RedisWarning>, Error> {
        let mut last = self.last.lock().await;
        if let Some((at, warnings)) = &*last
            && at.elapsed() < LOOK_EVERY
        {
            return Ok(warnings.clone());
        }
        let warnings = client.redis_warnings().await?;
        let usable = !warnings.iter().any(RedisWarning::is_fatal);
        *last = usable.then(|| (Instant::now(), warnings.clone()));
        Ok(warnings)
    }
}

fn page(warnings: &[RedisWarning]) -> String {
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
