//! The semaphores that this node watches: one subscription and one task each, however many look on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::Error;
use crate::types::SemaphoreName;
use crate::wire::Semaphore;

#[derive(Debug)]
pub(crate) struct Watches {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    closing: bool,
    /// Watches so far: a semaphore that is watched anew has another number.
    begun: u64,
    watches: HashMap<SemaphoreName, Watch>,
    /// Of all of them.
    lookers: usize,
}

#[derive(Debug)]
struct Watch {
    number: u64,
    lookers: usize,
    wire: watch::Sender<Wire>,
    shown: Arc<watch::Sender<Shown>>,
}

/// What came in; the last message stands for those before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire {
    /// How often a subscription began.
    pub(crate) subscriptions: u64,
    pub(crate) messages: u64,
    pub(crate) message: Option<Arc<[u8]>>,
}

/// What those who look on are shown.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// Redis has not answered yet.
    NotYet,
    Semaphore(Arc<Semaphore>),
    Deleted,
    Failed(Arc<Error>),
}

impl Shown {
    /// Nothing comes after it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, Self::Deleted | Self::Failed(_))
    }
}

/// A watch that begins.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) number: u64,
    pub(crate) wire: watch::Receiver<Wire>,
    pub(crate) shown: Arc<watch::Sender<Shown>>,
}

/// One of those who look on.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) watch: u64,
    pub(crate) shown: watch::Receiver<Shown>,
}

impl Watches {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, state: Mutex::default() }
    }

    /// One more looks on. For the first a watch begins; `then` runs before it can end.
    pub(crate) fn join(
        &self,
        watched: &SemaphoreName,
        then: impl FnOnce(),
    ) -> Result<(Look, Option<Begun>), Error> {
        let mut state = self.state();
        if state.closing {
            return Err(closing());
        }
        if state.lookers >= self.most {
            return Err(Error::ResourceExhausted { limit: "max_watches".to_owned() });
        }
        state.lookers += 1;
        // One that has shown its last is over for those who come now; its task is about to say so.
        let goes_on = |watch: &&mut Watch| !watch.shown.borrow().is_last();
        if let Some(watch) = state.watches.get_mut(watched).filter(goes_on) {
            watch.lookers += 1;
            return Ok((watch.look(), None));
        }
        state.begun += 1;
        let (watch, begun) = Watch::begin(state.begun);
        let look = watch.look();
        state.watches.insert(watched.clone(), watch);
        then();
        Ok((look, Some(begun)))
    }

    /// One looks on no more; after the last the watch ends, and `then` runs before another begins.
    pub(crate) fn leave(&self, watched: &SemaphoreName, number: u64, then: impl FnOnce()) {
        let mut state = self.state();
        state.lookers -= 1;
        let Some(watch) = state.watches.get_mut(watched).filter(|watch| watch.number == number)
        else {
            return;
        };
        watch.lookers -= 1;
        if watch.lookers == 0 {
            state.watches.remove(watched);
            then();
        }
    }

    /// The watch has shown its last; `then` runs before another begins.
    pub(crate) fn end(&self, watched: &SemaphoreName, number: u64, then: impl FnOnce()) {
        let mut state = self.state();
        if state.watches.get(watched).is_some_and(|watch| watch.number == number) {
            state.watches.remove(watched);
            then();
        }
    }

    /// A subscription to the semaphore's channel began.
    pub(crate) fn hears(&self, watched: &SemaphoreName) {
        if let Some(watch) = self.state().watches.get(watched) {
            watch.wire.send_modify(|wire| wire.subscriptions += 1);
        }
    }

    /// A message came in on a semaphore's channel.
    pub(crate) fn heard(&self, namespace: &str, name: &str, message: &[u8]) {
        let watched = SemaphoreName { namespace: namespace.to_owned(), name: name.to_owned() };
        if let Some(watch) = self.state().watches.get(&watched) {
            watch.wire.send_modify(|wire| {
                wire.messages += 1;
                wire.message = Some(message.into());
            });
        }
    }

    pub(crate) fn any_in(&self, namespace: &str) -> bool {
        self.state().watches.keys().any(|watched| watched.namespace == namespace)
    }

    /// `then` runs before any of them can end.
    pub(crate) fn each_in(&self, namespace: &str, then: impl FnMut(&SemaphoreName)) {
        let state = self.state();
        state.watches.keys().filter(|watched| watched.namespace == namespace).for_each(then);
    }

    /// From now on nothing is watched; those who look on are told.
    pub(crate) fn close(&self, then: impl Fn(SemaphoreName)) {
        let mut state = self.state();
        state.closing = true;
        for (watched, watch) in state.watches.drain() {
            watch.shown.send_replace(Shown::Failed(Arc::new(closing())));
            then(watched);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    fn begin(number: u64) -> (Self, Begun) {
        let (wire, incoming) = watch::channel(Wire::default());
        let shown = Arc::new(watch::channel(Shown::NotYet).0);
        let begun = Begun { number, wire: incoming, shown: Arc::clone(&shown) };
        (Self { number, lookers: 1, wire, shown }, begun)
    }

    fn look(&self) -> Look {
        let mut shown = self.shown.subscribe();
        // What is shown already is news to whoever comes.
        shown.mark_changed();
        Look { watch: self.number, shown }
    }
}

fn closing() -> Error {
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
    fn one_watch_serves_all_who_look_on_and_ends_with_the_last() {
        let watches = Watches::new(9);
        let (first, begun) = watches.join(&watched("s"), nothing).unwrap();
        assert!(begun.is_some());
        let (second, none) = watches.join(&watched("s"), || panic!("listened twice")).unwrap();
        assert!(none.is_none());
        assert_eq!(first.watch, second.watch);
        watches.leave(&watched("s"), first.watch, || panic!("one looks on"));
        assert!(watches.any_in("ns"));
        let mut left = false;
        watches.leave(&watched("s"), second.watch, || left = true);
        assert!(left && !watches.any_in("ns"));
        assert!(begun.unwrap().wire.has_changed().is_err(), "the task is told by the closed wire");
    }

    #[test]
    fn there_is_a_most_and_whoever_leaves_makes_room() {
        let watches = Watches::new(2);
        let (first, _) = watches.join(&watched("s"), nothing).unwrap();
        watches.join(&watched("t"), nothing).unwrap();
        let refused = watches.join(&watched("t"), || panic!("refused")).unwrap_err();
        assert!(matches!(refused, Error::ResourceExhausted { limit } if limit == "max_watches"));
        watches.end(&watched("s"), first.watch, nothing);
        assert!(watches.join(&watched("u"), nothing).is_err(), "who looked on has yet to leave");
        watches.leave(&watched("s"), first.watch, || panic!("it is over"));
        watches.join(&watched("u"), nothing).unwrap();
    }

    #[test]
    fn whoever_comes_after_the_last_event_has_a_watch_of_its_own() {
        let watches = Watches::new(9);
        let (first, begun) = watches.join(&watched("s"), nothing).unwrap();
        begun.unwrap().shown.send_replace(Shown::Deleted);
        let (next, begun) = watches.join(&watched("s"), nothing).unwrap();
        assert!(begun.is_some() && next.watch != first.watch);
        watches.end(&watched("s"), first.watch, || panic!("the next goes on"));
        watches.leave(&watched("s"), first.watch, || panic!("the next goes on"));
        assert!(watches.any_in("ns"));
    }

    #[test]
    fn whoever_leaves_a_watch_that_is_over_does_not_end_the_next() {
        let watches = Watches::new(9);
        let (first, _) = watches.join(&watched("s"), nothing).unwrap();
        watches.end(&watched("s"), first.watch, nothing);
        let (next, _) = watches.join(&watched("s"), nothing).unwrap();
        assert_ne!(first.watch, next.watch);
        watches.leave(&watched("s"), first.watch, || panic!("the next goes on"));
        watches.end(&watched("s"), first.watch, || panic!("the next goes on"));
        assert!(watches.any_in("ns"));
    }

    #[test]
    fn messages_that_nobody_has_read_yet_are_one() {
        let watches = Watches::new(9);
        let (_look, begun) = watches.join(&watched("s"), nothing).unwrap();
        let mut wire = begun.unwrap().wire;
        for message in 0..1_000_u32 {
            watches.heard("ns", "s", &message.to_be_bytes());
            watches.heard("ns", "other", b"nobody's");
        }
        let wire = wire.borrow_and_update();
        assert_eq!(wire.messages, 1_000);
        assert_eq!(wire.message.as_deref(), Some(&999_u32.to_be_bytes()[..]));
    }
}
