//! Observing semaphores: their states as they change, and their load.

use std::sync::Arc;

use super::Client;
use crate::engine::SemaphoreWatch;
use crate::types::{SemaphoreLoad, SemaphoreName};
use crate::validate;
use crate::wire::{GetSemaphoreRequest, WatchSemaphoreRequest};

impl Client {
    /// Watches a semaphore: a stream of its present state, then of its changes.
    ///
    /// If changes come faster than you read them, or than every 20 ms, you see only the latest state.
    /// Every change of what a [`Semaphore`](crate::wire::Semaphore) shows is seen in the end, whoever
    /// makes it, also the end of a lease. After a lost connection to Redis the stream continues by
    /// itself, with the state of that moment. A change whose message was lost is seen within 10 s.
    /// When the semaphore or its namespace is deleted, a last event says so.
    ///
    /// All streams of one semaphore share one subscription. Redis publishes changes only while
    /// somebody watches.
    ///
    /// # Errors
    ///
    /// An error is the stream's last item:
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`], [`Error::InvalidField`]: only as
    ///   the first item.
    /// - [`Error::ResourceExhausted`]: `max_watches` is reached; only as the first item.
    /// - [`Error::Unavailable`]: as the first item, Redis does not answer; later, this client was
    ///   [shut down](Self::shutdown), or its runtime has ended.
    ///
    /// [`Error::NamespaceNotFound`]: crate::Error::NamespaceNotFound
    /// [`Error::SemaphoreNotFound`]: crate::Error::SemaphoreNotFound
    /// [`Error::InvalidField`]: crate::Error::InvalidField
    /// [`Error::ResourceExhausted`]: crate::Error::ResourceExhausted
    /// [`Error::Unavailable`]: crate::Error::Unavailable
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream ends it; the last one of a semaphore ends the subscription.
    pub fn watch_semaphore(&self, request: WatchSemaphoreRequest) -> SemaphoreWatch {
        let WatchSemaphoreRequest { namespace_name: namespace, semaphore_name: name } = request;
        let checked = validate::names(&namespace, &name);
        let watched = checked.map(|()| SemaphoreName { namespace, name });
        let lifetime = self.engine.lifetime.clone();
        SemaphoreWatch::new(Arc::clone(&self.engine.watching), lifetime, watched)
    }

    /// What this client has seen of a semaphore in the last two minutes; none if it has seen nothing.
    ///
    /// It comes from the replies and messages that this client received, and from the waits of its own
    /// calls. It asks Redis nothing, and another client may have seen more. A client keeps at most
    /// [`max_observed_semaphores`](crate::Limits::max_observed_semaphores).
    #[must_use]
    pub fn semaphore_load(&self, request: &GetSemaphoreRequest) -> Option<SemaphoreLoad> {
        self.engine.load.load(&request.namespace_name, &request.semaphore_name)
    }

    /// The load of the busiest semaphores, up to `most`: first [convoys](crate::wire::Convoy), then by
    /// the longest queue, then by the weight that drained from it.
    #[must_use]
    pub fn busiest_semaphores(&self, most: usize) -> Vec<SemaphoreLoad> {
        self.engine.load.busiest(most)
    }
}
