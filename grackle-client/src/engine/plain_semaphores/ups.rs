//! Gives back one permit that no lease owns.

use std::sync::Arc;

use crate::engine::plain_semaphores::acknowledged_tickets::AcknowledgedTickets;
use crate::engine::tickets::Tickets;
use crate::error::Error;
use crate::scripts::Scripts;
use crate::types::SemaphoreName;
use crate::wire::Semaphore;

pub(crate) struct Ups {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) acknowledged: Arc<AcknowledgedTickets>,
}

impl Ups {
    pub(crate) async fn up(&self, semaphore: &SemaphoreName) -> Result<Semaphore, Error> {
        let ticket = self.tickets.next();
        let acknowledged = self.acknowledged.take(semaphore);
        let SemaphoreName { namespace, name } = semaphore;
        let state = self.scripts.up(namespace, name, &ticket, &acknowledged).await?;
        self.acknowledged.add(semaphore, ticket);
        Ok(state)
    }
}
