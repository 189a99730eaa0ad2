//! Checks of the servers: do they answer, may this user run the scripts, what may they forget.

use deadpool_redis::redis;

use super::runner::Scripts;
use crate::error::Error;
use crate::transport::diagnostics::Diagnostics;
use crate::transport::topology::Address;

/// No namespace can have this name.
const NO_NAMESPACE: &str = "grackle.check";

impl Scripts {
    /// Sends one PING, without a retry.
    pub(crate) async fn ping(&self) -> Result<(), Error> {
        self.router.ping().await
    }

    /// Checks, before anything is written, that this user may run the commands of the scripts.
    pub(crate) async fn check(&self) -> Result<(), Error> {
        let call = self.on(&self.table.check_rights, NO_NAMESPACE);
        self.text(&call).await.map(drop).map_err(|error| match error {
            Error::Internal { reason, source } => Error::Unavailable {
                reason: format!("{reason}; give this user the rights that docs/running.md lists"),
                source,
            },
            other => other,
        })
    }

    /// What each server reports about how it keeps its data.
    pub(crate) async fn diagnose(&self) -> Result<Vec<(Address, Diagnostics)>, Error> {
        self.router.ask_all(Diagnostics::ask).await
    }

    /// Makes the next command connect anew: the address may lead to another server by now.
    pub(crate) async fn reconnect(&self, address: &Address) {
        self.router.reconnect(address).await;
    }

    /// Checks that this user may run WAIT; for no replica it returns at once.
    pub(crate) async fn check_wait(&self) -> Result<(), Error> {
        let mut wait = redis::cmd("WAIT");
        wait.arg(0).arg(1);
        self.command::<i64>(&wait).await.map(drop)
    }
}
