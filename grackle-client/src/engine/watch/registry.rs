//! The semaphores that this node watches: one subscription and one task each, for any number of
//! watchers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::Error;
use crate::types::SemaphoreName;
use crate::wire::Semaphore;

#[derive(Debug)]
pub(crate) struct WatchRegistry {
    max_watchers: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    closing: bool,
    /// Watches so far: each has a number of its own.
    started: u64,
    /// In order, so that those of one namespace stand together.
    watches: BTreeMap<SemaphoreName, Watch>,
    /// Of all watches.
    watchers: usize,
}

#[derive(Debug)]
struct Watch {
    number: u64,
    watchers: usize,
    incoming: watch::Sender<Incoming>,
    shown: Arc<watch::Sender<Shown>>,
}

/// What came in from Redis; only the last message is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Incoming {
    /// How often a subscription began.
    pub(crate) subscriptions: u64,
    pub(crate) messages: u64,
    pub(crate) message: Option<Arc<[u8]>>,
}

/// What the watchers are shown.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// Redis has not answered yet.
    NotYet,
    Semaphore(Arc<Semaphore>),
    Deleted,
    Failed(Arc<Error>),
}

impl Shown {
    /// Does the watch end with it?
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Deleted | Self::Failed(_))
    }
}

/// A watch that starts, for its task.
#[derive(Debug)]
pub(crate) struct NewWatch {
    pub(crate) number: u64,
    pub(crate) incoming: watch::Receiver<Incoming>,
    pub(crate) shown: Arc<watch::Sender<Shown>>,
}

/// A watcher's part of a watch.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) watch: u64,
    pub(crate) shown: watch::Receiver<Shown>,
}

impl WatchRegistry {
    pub(crate) fn new(max_watchers: usize) -> Self {
        Self { max_watchers, state: Mutex::default() }
    }

    /// Adds a watcher. The first one starts a watch; `then` runs before that can end.
    pub(crate) fn join(
        &self,
        watched: &SemaphoreName,
        then: impl FnOnce(),
    ) -> Result<(View, Option<NewWatch>), Error> {
        let mut state = self.state();
        if state.closing {
            return Err(shutting_down());
        }
        if state.watchers >= self.max_watchers {
            return Err(Error::ResourceExhausted { limit: "max_watches".to_owned() });
        }
        state.watchers += 1;
        // A watch that has shown its last state takes no new watchers; its task is about to end it.
        let goes_on = |watch: &&mut Watch| !watch.shown.borrow().is_last();
        if let Some(watch) = state.watches.get_mut(watched).filter(goes_on) {
            watch.watchers += 1;
            return Ok((watch.view(), None));
        }
        state.started += 1;
        let (watch, new) = Watch::start(state.started);
        let view = watch.view();
        state.watches.insert(watched.clone(), watch);
        then();
        Ok((view, Some(new)))
    }

    /// Removes a watcher. The last one ends the watch; `then` runs before another can start.
    pub(crate) fn leave(&self, watched: &SemaphoreName, number: u64, then: impl FnOnce()) {
        let mut state = self.state();
        state.watchers -= 1;
        let Some(watch) = state.watches.get_mut(watched).filter(|watch| watch.number == number)
        else {
            return;
        };
        watch.watchers -= 1;
        if watch.watchers == 0 {
            state.watches.remove(watched);
            then();
        }
    }

    /// Ends a watch that has shown its last state; `then` runs before another can start.
    pub(crate) fn end(&self, watched: &SemaphoreName, number: u64, then: impl FnOnce()) {
        let mut state = self.state();
        if state.watches.get(watched).is_some_and(|watch| watch.number == number) {
            state.watches.remove(watched);
            then();
        }
    }

    /// A subscription to the semaphore's channel began.
    pub(crate) fn subscribed(&self, watched: &SemaphoreName) {
        if let Some(watch) = self.state().watches.get(watched) {
            watch.incoming.send_modify(|incoming| incoming.subscriptions += 1);
        }
    }

    /// A message came in on a semaphore's channel.
    pub(crate) fn message(&self, namespace: &str, name: &str, message: &[u8]) {
        let watched = SemaphoreName { namespace: namespace.to_owned(), name: name.to_owned() };
        if let Some(watch) = self.state().watches.get(&watched) {
            watch.incoming.send_modify(|incoming| {
                incoming.messages += 1;
                incoming.message = Some(message.into());
            });
        }
    }

    pub(crate) fn any_in(&self, namespace: &str) -> bool {
        self.state().in_namespace(namespace).next().is_some()
    }

    /// `then` runs before any of them can end.
    pub(crate) fn each_in(&self, namespace: &str, then: impl FnMut(&SemaphoreName)) {
        self.state().in_namespace(namespace).for_each(then);
    }

    /// Ends all watches, and refuses new ones; `then` runs for each before the next step.
    pub(crate) fn close(&self, then: impl Fn(SemaphoreName)) {
        let mut state = self.state();
        state.closing = true;
        for (watched, watch) in std::mem::take(&mut state.watches) {
            watch.shown.send_replace(Shown::Failed(Arc::new(shutting_down())));
            then(watched);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &SemaphoreName> {
        let first = SemaphoreName { namespace: namespace.to_owned(), name: String::new() };
        let watched = self.watches.range(first..).map(|(watched, _)| watched);
        watched.take_while(move |watched| watched.namespace == namespace)
    }
}

impl Watch {
    fn start(number: u64) -> (Self, NewWatch) {
        let (sender, incoming) = watch::channel(Incoming::default());
        let shown = Arc::new(watch::channel(Shown::NotYet).0);
        let new = NewWatch { number, incoming, shown: Arc::clone(&shown) };
        (Self { number, watchers: 1, incoming: sender, shown }, new)
    }

    fn view(&self) -> View {
        let mut shown = self.shown.subscribe();
        // What is shown already is news to a new watcher.
        shown.mark_changed();
        View { watch: self.number, shown }
    }
}

fn shutting_down() -> Error {
    Error::unavailable("this node shuts down: watch through another")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(name: &str) -> SemaphoreName {
        SemaphoreName { namespace: "ns".to_owned(), name: name.to_owned() }
    }

    fn nothing() {}

    #[test]
    fn one_watch_serves_all_watchers_and_ends_with_the_last() {
        let watches = WatchRegistry::new(9);
        let (first, new) = watches.join(&watched("s"), nothing).unwrap();
        assert!(new.is_some(), "the first one starts it");
        let (second, none) = watches.join(&watched("s"), || panic!("subscribed twice")).unwrap();
        assert!(none.is_none(), "it is there already");
        assert_eq!(first.watch, second.watch);
        watches.leave(&watched("s"), first.watch, || panic!("one is left"));
        assert!(watches.any_in("ns"), "{watches:?}");
        let mut left = false;
        watches.leave(&watched("s"), second.watch, || left = true);
        assert!(left, "the last one ends it");
        assert!(!watches.any_in("ns"), "{watches:?}");
        assert!(new.unwrap().incoming.has_changed().is_err(), "a closed channel tells the task");
    }

    #[test]
    fn watchers_are_limited_and_one_that_leaves_makes_room() {
        let watches = WatchRegistry::new(2);
        let (first, _) = watches.join(&watched("s"), nothing).unwrap();
        watches.join(&watched("t"), nothing).unwrap();
        let refused = watches.join(&watched("t"), || panic!("refused")).unwrap_err();
        assert!(
            matches!(&refused, Error::ResourceExhausted { limit } if limit == "max_watches"),
            "{refused:?}"
        );
        watches.end(&watched("s"), first.watch, nothing);
        assert!(watches.join(&watched("u"), nothing).is_err(), "its watcher has yet to leave");
        watches.leave(&watched("s"), first.watch, || panic!("it is over"));
        watches.join(&watched("u"), nothing).unwrap();
    }

    #[test]
    fn a_watcher_that_comes_after_the_last_event_starts_another_watch() {
        let watches = WatchRegistry::new(9);
        let (first, new) = watches.join(&watched("s"), nothing).unwrap();
        new.unwrap().shown.send_replace(Shown::Deleted);
        let (next, new) = watches.join(&watched("s"), nothing).unwrap();
        assert!(new.is_some(), "another one starts");
        assert_ne!(next.watch, first.watch);
        watches.end(&watched("s"), first.watch, || panic!("the next goes on"));
        watches.leave(&watched("s"), first.watch, || panic!("the next goes on"));
        assert!(watches.any_in("ns"), "{watches:?}");
    }

    #[test]
    fn a_watcher_that_leaves_an_ended_watch_does_not_end_the_next() {
        let watches = WatchRegistry::new(9);
        let (first, _) = watches.join(&watched("s"), nothing).unwrap();
        watches.end(&watched("s"), first.watch, nothing);
        let (next, _) = watches.join(&watched("s"), nothing).unwrap();
        assert_ne!(first.watch, next.watch);
        watches.leave(&watched("s"), first.watch, || panic!("the next goes on"));
        watches.end(&watched("s"), first.watch, || panic!("the next goes on"));
        assert!(watches.any_in("ns"), "{watches:?}");
    }

    #[test]
    fn only_the_last_unread_message_is_kept() {
        let watches = WatchRegistry::new(9);
        let (_look, new) = watches.join(&watched("s"), nothing).unwrap();
        let mut incoming = new.unwrap().incoming;
        for message in 0..1_000_u32 {
            watches.message("ns", "s", &message.to_be_bytes());
            watches.message("ns", "other", b"nobody's");
        }
        let incoming = incoming.borrow_and_update();
        assert_eq!(incoming.messages, 1_000);
        assert_eq!(incoming.message.as_deref(), Some(&999_u32.to_be_bytes()[..]));
    }
}
