//! Semaphores: their records.

use super::arguments::{SemaphoreRules, json, word};
use super::reply::{AGAIN, RecordReply, parse};
use super::runner::Scripts;
use crate::error::Error;
use crate::pagination::{PageReply, PageStart};
use crate::wire::{Metadata, Semaphore};

impl Scripts {
    pub async fn create_semaphore(
        &self,
        request: &str,
        ns: &str,
        name: &str,
        rules: impl Into<SemaphoreRules>,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Semaphore, Error> {
        let SemaphoreRules { permits, discipline, max_waiters } = rules.into();
        let mut call = self.on(&self.table.create_semaphore, ns);
        call.arg(request).arg(name).arg(permits).arg(description).arg(json(metadata));
        call.arg(word(discipline).unwrap_or("fifo")).arg(max_waiters.unwrap_or_default());
        call.arg(self.limits.max_semaphores);
        self.record(&call).await.and_then(semaphore)
    }

    pub async fn get_semaphore(&self, ns: &str, name: &str) -> Result<Semaphore, Error> {
        let mut call = self.on(&self.table.get_semaphore, ns);
        self.record(call.arg(name)).await.and_then(semaphore)
    }

    #[expect(clippy::too_many_arguments, reason = "one for each of the script's")]
    pub async fn update_semaphore(
        &self,
        request: &str,
        ns: &str,
        name: &str,
        expected_version: i64,
        rules: impl Into<SemaphoreRules>,
        description: &str,
        metadata: &Metadata,
    ) -> Result<Semaphore, Error> {
        let SemaphoreRules { permits, discipline, max_waiters } = rules.into();
        let mut call = self.on(&self.table.update_semaphore, ns);
        call.arg(request).arg(name).arg(expected_version).arg(permits);
        call.arg(description).arg(json(metadata)).arg(word(discipline).unwrap_or_default());
        call.arg(max_waiters.map(|most| most.to_string()).unwrap_or_default());
        self.record(&call).await.and_then(semaphore)
    }

    /// Returns its last state, if it existed.
    pub async fn delete_semaphore(&self, ns: &str, name: &str) -> Result<Option<Semaphore>, Error> {
        let (mut begun, mut was) = (false, None);
        loop {
            let mut call = self.on(&self.table.delete_semaphore, ns);
            call.arg(name).arg(i32::from(begun));
            let reply = self.once(&call).await.map_err(|(error, _)| error)?;
            was = was.or(parse::<RecordReply>(&reply)?.semaphore);
            if !reply.starts_with(AGAIN.trim_end_matches('}')) {
                return Ok(was);
            }
            begun = true;
        }
    }

    pub async fn list_semaphores(
        &self,
        ns: &str,
        from: &PageStart,
        limit: i64,
    ) -> Result<PageReply<Semaphore>, Error> {
        let mut call = self.on(&self.table.list_semaphores, ns);
        call.page(from, limit);
        parse(&self.text(&call).await?)
    }
}

pub(super) fn semaphore(reply: RecordReply) -> Result<Semaphore, Error> {
    reply.semaphore.ok_or_else(|| Error::internal("a script left the semaphore out"))
}
