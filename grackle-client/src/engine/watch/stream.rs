//! The stream of one who looks on at a semaphore.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{self, Stream, StreamExt};

use crate::engine::Node;
use crate::engine::watch::registry::{Look, Shown};
use crate::error::Error;
use crate::types::{SemaphoreEvent, SemaphoreName};

type Item = Result<SemaphoreEvent, Error>;

/// The states of a semaphore, as they come: a [`Stream`] of [`SemaphoreEvent`]s.
///
/// It does nothing until it is polled first. Dropping it is all it takes to end it.
#[must_use = "a stream does nothing unless it is polled"]
pub struct SemaphoreWatch(Pin<Box<dyn Stream<Item = Item> + Send>>);

impl SemaphoreWatch {
    pub(crate) fn new(node: Arc<Node>, checked: Result<SemaphoreName, Error>) -> Self {
        // Fused: polled after its end it has ended still.
        Self(Box::pin(stream::unfold(Step::Begin(node, checked), Step::next).fuse()))
    }

    /// The next event; none after the last.
    ///
    /// # Cancel safety
    ///
    /// A dropped future loses no event.
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
    Begin(Arc<Node>, Result<SemaphoreName, Error>),
    On(Looker),
    Over,
}

impl Step {
    async fn next(self) -> Option<(Item, Self)> {
        let looker = match self {
            Self::Begin(node, checked) => checked.and_then(|watched| Looker::new(node, watched)),
            Self::On(looker) => Ok(looker),
            Self::Over => return None,
        };
        match looker {
            Ok(looker) => Some(looker.next().await),
            Err(error) => Some((Err(error), Self::Over)),
        }
    }
}

struct Looker {
    node: Arc<Node>,
    watched: SemaphoreName,
    look: Look,
}

impl Looker {
    fn new(node: Arc<Node>, watched: SemaphoreName) -> Result<Self, Error> {
        let look = node.look(&watched)?;
        Ok(Self { node, watched, look })
    }

    async fn next(mut self) -> (Item, Step) {
        loop {
            // Its end is told by what it shows last; the node keeps the sender until then.
            let _ = self.look.shown.changed().await;
            let shown = self.look.shown.borrow_and_update().clone();
            return match shown {
                Shown::NotYet => continue,
                Shown::Semaphore(semaphore) => {
                    let semaphore = Arc::unwrap_or_clone(semaphore);
                    (Ok(SemaphoreEvent::Semaphore(semaphore)), Step::On(self))
                }
                Shown::Deleted => (Ok(SemaphoreEvent::Deleted), Step::Over),
                Shown::Failed(error) => (Err(told(&error)), Step::Over),
            };
        }
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.node.look_away(&self.watched, self.look.watch);
    }
}

/// One error, for each of those who look on.
fn told(error: &Error) -> Error {
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
    fn it_may_be_sent_and_needs_no_pin() {
        fn sent<T: Send + Unpin + 'static>() {}
        sent::<SemaphoreWatch>();
    }
}
