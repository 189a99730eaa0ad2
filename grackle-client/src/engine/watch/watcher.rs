//! A watcher of a semaphore: joins the watch, and leaves it when it is dropped.

use std::sync::Arc;

use crate::engine::namespace_subscriptions::NamespaceSubscriptions;
use crate::engine::subscriber::Subscribers;
use crate::engine::subscriber::topic::Topic;
use crate::engine::sweeper::active::ActiveSweeper;
use crate::engine::tasks::{Lifetime, Tasks};
use crate::engine::watch::registry::{Shown, View, WatchRegistry};
use crate::engine::watch::task::{WatchEnd, WatchTask};
use crate::error::Error;
use crate::scripts::Scripts;
use crate::types::SemaphoreName;

/// Starts watches.
pub(crate) struct Watching {
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) registry: Arc<WatchRegistry>,
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) subscriptions: Arc<NamespaceSubscriptions>,
    pub(crate) sweeper: Arc<ActiveSweeper>,
    pub(crate) tasks: Tasks,
}

pub(crate) struct Watcher {
    watching: Arc<Watching>,
    watched: SemaphoreName,
    view: View,
    _lifetime: Lifetime,
}

impl Watching {
    fn join(&self, watched: &SemaphoreName) -> Result<View, Error> {
        // Before the watch asks Redis: news of what is due sooner must not be missed.
        self.sweeper.activate(&watched.namespace);
        let subscribe = || self.subscribers.subscribe(Topic::Semaphore(watched.clone()));
        let (view, new) = self.registry.join(watched, subscribe).inspect_err(|_| {
            self.subscriptions.unsubscribe_unused(&watched.namespace);
        })?;
        // Again: it may have become inactive before the watch was in the registry.
        self.sweeper.activate(&watched.namespace);
        if let Some(new) = new {
            let waiters = Arc::clone(&self.subscriptions.waiters);
            let end = WatchEnd {
                registry: Arc::clone(&self.registry),
                subscribers: Arc::clone(&self.subscribers),
                subscriptions: Arc::clone(&self.subscriptions),
            };
            let scripts = Arc::clone(&self.scripts);
            let task = WatchTask::new(scripts, waiters, end, watched.clone(), new);
            self.tasks.spawn(task.run());
        }
        Ok(view)
    }
}

impl Watcher {
    pub(crate) fn join(
        watching: Arc<Watching>,
        watched: SemaphoreName,
        lifetime: Lifetime,
    ) -> Result<Self, Error> {
        let view = watching.join(&watched)?;
        Ok(Self { watching, watched, view, _lifetime: lifetime })
    }

    /// What is shown next. Call it no more after the last.
    pub(crate) async fn next(&mut self) -> Shown {
        loop {
            // The registry keeps the sender until the last state is shown.
            let _ = self.view.shown.changed().await;
            match self.view.shown.borrow_and_update().clone() {
                Shown::NotYet => {}
                shown => return shown,
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let topic = Topic::Semaphore(self.watched.clone());
        let unsubscribe = || self.watching.subscribers.unsubscribe(topic);
        self.watching.registry.leave(&self.watched, self.view.watch, unsubscribe);
    }
}
