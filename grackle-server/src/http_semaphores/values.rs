//! The values of a semaphore as server-sent events: the one that it has at once, then each change.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::response::sse::Event;
use futures_core::Stream;
use grackle_client::SemaphoreWatch;
use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::{Semaphore, WatchSemaphoreRequest};

use super::Shown;
use super::name::Name;
use super::refusal::Refusal;
use crate::app::App;
use crate::metrics::OpenWatch;

pub(super) struct Values {
    name: Name,
    first: Option<SemaphoreEvent>,
    watch: SemaphoreWatch,
    /// What the reader has: the value, or of a stream before this one the event.
    shown: Option<i64>,
    last_seen: Option<String>,
    _open: OpenWatch,
}

impl Values {
    /// Up to the first event, so that an error is answered as any other.
    pub(super) async fn begin(
        app: &App,
        name: Name,
        last_seen: Option<&str>,
    ) -> Result<Self, Refusal> {
        let (namespace_name, semaphore_name) =
            (app.http_semaphores_namespace.clone(), name.inside());
        let request = WatchSemaphoreRequest { namespace_name, semaphore_name };
        let mut watch = app.client.watch_semaphore(request);
        let first = watch.next().await.transpose()?;
        let (last_seen, open) = (last_seen.map(str::to_owned), app.metrics.watch_opens());
        Ok(Self { name, first, watch, shown: None, last_seen, _open: open })
    }

    /// The event of a state; none where the reader has it.
    fn event(&mut self, semaphore: &Semaphore) -> Option<Result<Event, axum::Error>> {
        let (shown, id) = (Shown::new(&self.name, semaphore), id_of(semaphore));
        let has = match self.last_seen.take() {
            Some(last_seen) => last_seen == id,
            None => self.shown == Some(shown.value),
        };
        self.shown = Some(shown.value);
        (!has).then(|| Event::default().id(id).json_data(shown))
    }
}

/// Which state it is: made when, and changed when last.
fn id_of(semaphore: &Semaphore) -> String {
    let Semaphore { created_at, last_activity_at, updated_at, permits, active_holds, .. } =
        semaphore;
    format!("{created_at}-{}-{}", last_activity_at.max(updated_at), permits - active_holds)
}

impl Stream for Values {
    type Item = Result<Event, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let next = match self.first.take() {
                Some(first) => Some(Ok(first)),
                None => ready!(Pin::new(&mut self.watch).poll_next(context)),
            };
            let event = match next {
                Some(Ok(SemaphoreEvent::Semaphore(semaphore))) => self.event(&semaphore),
                Some(Ok(SemaphoreEvent::Deleted)) => {
                    Some(Ok(Event::default().event("deleted").data("{}")))
                }
                // Once begun it can't end in an error answer: its reader comes again.
                _ => return Poll::Ready(None),
            };
            if event.is_some() {
                return Poll::Ready(event);
            }
        }
    }
}
