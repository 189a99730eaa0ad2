//! Semaphores looked on: their changes, and what this client has seen of them.

use std::sync::Arc;

use super::{Client, names};
use crate::engine::watch::stream::SemaphoreWatch;
use crate::types::{SemaphoreLoad, SemaphoreName};
use crate::wire::{GetSemaphoreRequest, WatchSemaphoreRequest};

impl Client {
    /// The states of a semaphore: the one it is in at once, then what changes.
    ///
    /// Changes that come faster than they are read, or than every 20 ms, are one: the latest state
    /// stands. Every change of what a [`Semaphore`](crate::wire::Semaphore) shows is seen in the end,
    /// whoever makes it; a holder whose lease ends too. After a lost connection to Redis it goes on by
    /// itself with the state of then, for as long as that takes; a change that no message told of is
    /// seen within 10 s. When the semaphore or its namespace is deleted, or was meanwhile, a last event
    /// says so.
    ///
    /// All streams of one semaphore share one subscription. Only while somebody watches does Redis
    /// publish anything.
    ///
    /// # Errors
    ///
    /// An error is the stream's last item:
    ///
    /// - [`Error::NamespaceNotFound`], [`Error::SemaphoreNotFound`], [`Error::InvalidField`]: only as
    ///   the first.
    /// - [`Error::ResourceExhausted`]: `max_watches`: only as the first.
    /// - [`Error::Unavailable`]: as the first, Redis does not answer; later, this client was
    ///   [shut down](Self::shutdown).
    ///
    /// [`Error::NamespaceNotFound`]: crate::Error::NamespaceNotFound
    /// [`Error::SemaphoreNotFound`]: crate::Error::SemaphoreNotFound
    /// [`Error::InvalidField`]: crate::Error::InvalidField
    /// [`Error::ResourceExhausted`]: crate::Error::ResourceExhausted
    /// [`Error::Unavailable`]: crate::Error::Unavailable
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream ends it. With the last of a semaphore goes its subscription.
    pub fn watch_semaphore(&self, request: WatchSemaphoreRequest) -> SemaphoreWatch {
        let WatchSemaphoreRequest { namespace_name: namespace, semaphore_name: name } = request;
        let checked = names(&namespace, &name).map(|()| SemaphoreName { namespace, name });
        SemaphoreWatch::new(Arc::clone(&self.node), checked)
    }

    /// What this client has seen of a semaphore in the last two minutes; none where that is nothing.
    ///
    /// Of the states in answers and messages that reached it, and of the waits of its own callers: it
    /// asks Redis nothing, and another client may have seen more. Of
    /// [`max_observed_semaphores`](crate::Limits::max_observed_semaphores) at most anything is kept.
    #[must_use]
    pub fn semaphore_load(&self, request: &GetSemaphoreRequest) -> Option<SemaphoreLoad> {
        self.node.convoys.load(&request.namespace_name, &request.semaphore_name)
    }

    /// The same of all, the busiest first, and no more than `most`: [convoys](crate::wire::Convoy),
    /// then by the longest queue seen, then by what drained from it.
    #[must_use]
    pub fn busiest_semaphores(&self, most: usize) -> Vec<SemaphoreLoad> {
        self.node.convoys.busiest(most)
    }
}
