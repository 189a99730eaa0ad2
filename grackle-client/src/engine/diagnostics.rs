//! Warnings about the Redis servers.

use std::sync::Arc;

use crate::error::Error;
use crate::scripts::Scripts;
use crate::transport::topology::Topology;
use crate::transport::warning::RedisWarning;

pub(crate) struct ServerCheck {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) topology: Arc<Topology>,
}

impl ServerCheck {
    /// Asks each server. One that can't be used is connected to anew next time: its address may lead
    /// to another server by then.
    pub(crate) async fn warnings(&self) -> Result<Vec<RedisWarning>, Error> {
        let mut warnings = Vec::new();
        for (address, diagnostics) in self.scripts.diagnose().await? {
            let server = (!address.is_empty()).then(|| address.clone());
            let problems = diagnostics.problems(self.topology.is_cluster());
            let here: Vec<_> = problems
                .into_iter()
                .map(|kind| RedisWarning { server: server.clone(), kind })
                .collect();
            if here.iter().any(RedisWarning::is_fatal) {
                self.scripts.reconnect(&address).await;
            }
            warnings.extend(here);
        }
        Ok(warnings)
    }

    /// The same. Fails where one of the warnings means that nothing works; none where Redis can't be
    /// asked: the next command shows whether it can be used.
    pub(crate) async fn warnings_of_usable(&self) -> Result<Vec<RedisWarning>, Error> {
        let asked = self.warnings().await;
        let asked = asked.inspect_err(|error| tracing::debug!(%error, "could not check Redis"));
        let warnings = asked.unwrap_or_default();
        match warnings.iter().find(|warning| warning.is_fatal() && self.topology.is_single()) {
            Some(fatal) => Err(Error::Unavailable {
                reason: fatal.to_string(),
                source: Some(Box::new(fatal.clone())),
            }),
            None => Ok(warnings),
        }
    }
}
