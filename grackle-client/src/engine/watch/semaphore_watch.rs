//! The stream of a semaphore's states.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, Stream, StreamExt};

use crate::engine::tasks::Lifetime;
use crate::engine::watch::registry::Shown;
use crate::engine::watch::watcher::{Watcher, Watching};
use crate::error::Error;
use crate::types::{SemaphoreEvent, SemaphoreName};

type Item = Result<SemaphoreEvent, Error>;

/// The states of a semaphore, as they come: a [`Stream`] of [`SemaphoreEvent`]s.
///
/// It starts with the first poll. Dropping it ends it.
#[must_use = "a stream does nothing unless it is polled"]
pub struct SemaphoreWatch(Pin<Box<dyn Stream<Item = Item> + Send>>);

impl SemaphoreWatch {
    pub(crate) fn new(
        watching: Arc<Watching>,
        lifetime: Lifetime,
        watched: Result<SemaphoreName, Error>,
    ) -> Self {
        // Fused: once it has ended, further polls say so too.
        let start = Step::Start(watching, lifetime, watched);
        Self(Box::pin(stream::unfold(start, Step::next).fuse()))
    }

    /// The next event; none after the last.
    ///
    /// # Errors
    ///
    /// As [`watch_semaphore`](crate::Client::watch_semaphore); an error is the last item.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|context| self.0.as_mut().poll_next(context)).await
    }
}

impl Stream for SemaphoreWatch {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl fmt::Debug for SemaphoreWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphoreWatch").finish_non_exhaustive()
    }
}

enum Step {
    Start(Arc<Watching>, Lifetime, Result<SemaphoreName, Error>),
    Watch(Watcher),
    End,
}

impl Step {
    async fn next(self) -> Option<(Item, Self)> {
        let watcher = match self {
            Self::Start(watching, lifetime, watched) => {
                watched.and_then(|watched| Watcher::join(watching, watched, lifetime))
            }
            Self::Watch(watcher) => Ok(watcher),
            Self::End => return None,
        };
        match watcher {
            Ok(watcher) => Some(event(watcher).await),
            Err(error) => Some((Err(error), Self::End)),
        }
    }
}

async fn event(mut watcher: Watcher) -> (Item, Step) {
    match watcher.next().await {
        Shown::Semaphore(semaphore) => {
            let semaphore = Arc::unwrap_or_clone(semaphore);
            (Ok(SemaphoreEvent::Semaphore(semaphore)), Step::Watch(watcher))
        }
        Shown::Failed(error) => (Err(copy(&error)), Step::End),
        // A watcher skips `NotYet`.
        Shown::Deleted | Shown::NotYet => (Ok(SemaphoreEvent::Deleted), Step::End),
    }
}

/// The same error for each of several watchers.
fn copy(error: &Error) -> Error {
    match error {
        Error::NamespaceNotFound => Error::NamespaceNotFound,
        Error::SemaphoreNotFound => Error::SemaphoreNotFound,
        Error::ResourceExhausted { limit } => Error::ResourceExhausted { limit: limit.clone() },
        Error::Unavailable { reason, .. } => Error::unavailable(reason),
        other => Error::internal(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_send_and_unpin() {
        fn check<T: Send + Unpin + 'static>() {}
        check::<SemaphoreWatch>();
    }
}
