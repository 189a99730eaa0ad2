//! The values of a plain semaphore as server-sent events: the present one, then each change.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::response::sse::Event;
use futures_core::Stream;
use grackle_client::SemaphoreWatch;
use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::{Semaphore, WatchSemaphoreRequest};

use super::error::PlainError;
use super::name::Name;
use super::value::NamedValue;
use crate::http::state::State;
use crate::metrics::OpenWatch;

pub(super) struct ValueStream {
    name: Name,
    first: Option<SemaphoreEvent>,
    watch: SemaphoreWatch,
    /// The value that the reader knows, or the id of the last event of its previous stream.
    shown: Option<i64>,
    last_seen: Option<String>,
    _open: OpenWatch,
}

impl ValueStream {
    /// Waits for the first event, so that an error is answered like any other.
    pub(super) async fn begin(
        state: &State,
        name: Name,
        last_seen: Option<&str>,
    ) -> Result<Self, PlainError> {
        let (namespace_name, semaphore_name) =
            (state.plain_namespace.clone(), name.semaphore_name());
        let request = WatchSemaphoreRequest { namespace_name, semaphore_name };
        let mut watch = state.client.watch_semaphore(request);
        let first = watch.next().await.transpose()?;
        let (last_seen, open) = (last_seen.map(str::to_owned), state.metrics.watch_opens());
        Ok(Self { name, first, watch, shown: None, last_seen, _open: open })
    }

    /// The event for a state; none where the reader knows it.
    fn event(&mut self, semaphore: &Semaphore) -> Option<Result<Event, axum::Error>> {
        let (shown, id) = (NamedValue::new(&self.name, semaphore), id_of(semaphore));
        let has = match self.last_seen.take() {
            Some(last_seen) => last_seen == id,
            None => self.shown == Some(shown.value),
        };
        self.shown = Some(shown.value);
        (!has).then(|| Event::default().id(id).json_data(shown))
    }
}

/// The id of a state: when the semaphore was created and last changed, and its value.
fn id_of(semaphore: &Semaphore) -> String {
    let Semaphore { created_at, last_activity_at, updated_at, permits, active_holds, .. } =
        semaphore;
    format!("{created_at}-{}-{}", last_activity_at.max(updated_at), permits - active_holds)
}

impl Stream for ValueStream {
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
                // A stream that has begun can't end in an error answer: its reader reconnects.
                _ => return Poll::Ready(None),
            };
            if event.is_some() {
                return Poll::Ready(event);
            }
        }
    }
}
