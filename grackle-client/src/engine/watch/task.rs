//! The watch of one semaphore: asks Redis to publish its changes, and shows what comes.
//!
//! Redis publishes only what is marked as watched, for a time; each time the mark is renewed the state
//! comes with the reply. So does it whenever a subscription begins: what a gap hid is seen then.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch::{Receiver, Sender};

use crate::engine::Node;
use crate::engine::watch::registry::{Begun, Shown, Wire};
use crate::error::Error;
use crate::scripts::{REORDER_WINDOW, WatchReply, parse};
use crate::types::SemaphoreName;

/// The mark is good for three times as long (`WATCHED_FOR` in `lua/watch.lua`).
const RENEW_EVERY: Duration = Duration::from_secs(10);
/// Where Redis did not answer, the next try.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// What is shown stands that long at least: a crowd that looks on is not woken by each of many
/// changes, and those who wait for permits on this node are not behind it.
const PACE: Duration = Duration::from_millis(20);

pub(crate) async fn run(node: Weak<Node>, watched: SemaphoreName, begun: Begun) {
    let mut watch = Watch::new(node, watched, begun);
    while watch.round().await {}
}

struct Watch {
    node: Weak<Node>,
    number: u64,
    watched: SemaphoreName,
    wire: Receiver<Wire>,
    shown: Arc<Sender<Shown>>,
    /// Which of what came in was looked at.
    subscriptions: u64,
    messages: u64,
    renew_at: Instant,
    /// After a try in vain, how long until the next.
    pause: Duration,
    /// There was nothing to watch.
    in_vain: bool,
    /// When that was so which is shown, in µs by Redis' clock.
    at: i64,
}

impl Watch {
    fn new(node: Weak<Node>, watched: SemaphoreName, begun: Begun) -> Self {
        Self {
            node,
            number: begun.number,
            watched,
            wire: begun.wire,
            shown: begun.shown,
            subscriptions: 0,
            messages: 0,
            renew_at: Instant::now(),
            pause: AGAIN_AFTER,
            in_vain: false,
            at: 0,
        }
    }

    /// False where it is over.
    async fn round(&mut self) -> bool {
        tokio::select! {
            // First, so that it ends with the last who looks on.
            biased;
            changed = self.wire.changed() => if changed.is_err() { return false },
            () = tokio::time::sleep_until(self.renew_at.into()) => {}
        }
        let Some(node) = self.node.upgrade() else { return false };
        let wire = self.wire.borrow_and_update().clone();
        let begins = wire.subscriptions != self.subscriptions;
        if begins {
            // Of another server, perhaps, with a clock of its own. What came in is older than what it
            // is about to say.
            (self.at, self.messages) = (0, wire.messages);
        }
        let mut news = self.read(&wire);
        if begins || self.renew_at <= Instant::now() {
            self.subscriptions = wire.subscriptions;
            news |= self.ask(&node).await;
        }
        if news && let Shown::Semaphore(semaphore) = &*self.shown.borrow() {
            node.convoys.state(&self.watched.namespace, semaphore);
        }
        drop(node);
        if news && !self.is_over() {
            tokio::time::sleep(PACE).await;
        }
        !self.is_over()
    }

    /// True where the message is news.
    fn read(&mut self, wire: &Wire) -> bool {
        if wire.messages == self.messages {
            return false;
        }
        self.messages = wire.messages;
        let text = String::from_utf8_lossy(wire.message.as_deref().unwrap_or_default());
        match parse(&text) {
            Ok(sight) => self.see(sight),
            Err(error) => {
                tracing::warn!(%error, "a message that no Grackle sends");
                false
            }
        }
    }

    /// True where the answer is news.
    async fn ask(&mut self, node: &Node) -> bool {
        let SemaphoreName { namespace, name } = &self.watched;
        let answer = node.scripts.watch(namespace, name).await;
        let first_in_vain = self.pause == AGAIN_AFTER;
        let next = if answer.is_ok() { jittered(RENEW_EVERY) } else { self.pause };
        self.pause = if answer.is_ok() { AGAIN_AFTER } else { (2 * self.pause).min(RENEW_EVERY) };
        self.renew_at = Instant::now() + next;
        match answer {
            Ok(sight) => {
                node.waits.sweep_within(namespace, sight.sweep_in.unwrap_or(-1));
                self.see(sight)
            }
            Err(error) if matches!(*self.shown.borrow(), Shown::NotYet) => {
                self.in_vain = true;
                self.show(Shown::Failed(Arc::new(error)))
            }
            Err(Error::NamespaceNotFound | Error::SemaphoreNotFound) => self.show(Shown::Deleted),
            Err(error) => {
                let SemaphoreName { namespace, name } = &self.watched;
                if first_in_vain {
                    tracing::warn!(%error, namespace, name, "a watch asks Redis again");
                } else {
                    tracing::debug!(%error, namespace, name, "a watch asks Redis once more");
                }
                false
            }
        }
    }

    fn see(&mut self, sight: WatchReply) -> bool {
        let older = self.at - sight.at;
        if (1..REORDER_WINDOW).contains(&older) {
            return false;
        }
        self.at = sight.at;
        let before = self.shown.borrow().clone();
        match (sight.semaphore, before) {
            (None, _) => self.show(Shown::Deleted),
            (Some(now), Shown::Semaphore(before)) if now == *before => false,
            // Deleted, and made again, while nothing was heard.
            (Some(now), Shown::Semaphore(before)) if now.created_at != before.created_at => {
                self.show(Shown::Deleted)
            }
            (Some(now), _) => self.show(Shown::Semaphore(Arc::new(now))),
        }
    }

    fn show(&self, what: Shown) -> bool {
        self.shown.send_if_modified(|shown| {
            // A node that shuts down has said its last.
            let goes_on = !shown.is_last();
            if goes_on {
                *shown = what;
            }
            goes_on
        })
    }

    fn is_over(&self) -> bool {
        self.shown.borrow().is_last()
    }
}

/// Whatever ends it, those who look on are told: also the end of the runtime, which drops its task.
impl Drop for Watch {
    fn drop(&mut self) {
        let gone = "the runtime on which the client was connected has ended";
        self.show(Shown::Failed(Arc::new(Error::unavailable(gone))));
        let Some(node) = self.node.upgrade() else { return };
        if self.in_vain {
            node.end_vain_watch(&self.watched, self.number);
        } else {
            node.end_watch(&self.watched, self.number);
        }
    }
}

/// A tenth less at most, so that watches which began together do not ask together.
fn jittered(duration: Duration) -> Duration {
    let unit = f64::from(nanoid::rngs::default(1)[0]) / 255.0;
    duration.mul_f64(1.0 - unit / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::watch::registry::Watches;
    use crate::wire::Semaphore;

    fn watch() -> Watch {
        let watched = SemaphoreName { namespace: "ns".to_owned(), name: "s".to_owned() };
        let (_, begun) = Watches::new(9).join(&watched, || {}).unwrap();
        Watch::new(Weak::new(), watched, begun.unwrap())
    }

    fn sight(at: i64, active_holds: i64) -> WatchReply {
        let semaphore = Semaphore { active_holds, created_at: 1, ..Semaphore::default() };
        WatchReply { at, sweep_in: None, semaphore: Some(semaphore) }
    }

    fn holds(watch: &Watch) -> i64 {
        match &*watch.shown.borrow() {
            Shown::Semaphore(semaphore) => semaphore.active_holds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_overtaken_is_not_shown() {
        let mut watch = watch();
        assert!(watch.see(sight(5_000_000, 5)));
        assert!(!watch.see(sight(4_999_999, 4)));
        assert!(watch.see(sight(5_000_000, 6)), "of the same microsecond: the later in order");
        assert_eq!(holds(&watch), 6);
    }

    #[test]
    fn one_whose_task_is_dropped_says_so() {
        let watch = watch();
        let shown = watch.shown.subscribe();
        drop(watch);
        assert!(
            matches!(&*shown.borrow(), Shown::Failed(error) if error.to_string().contains("runtime"))
        );
    }

    #[test]
    fn a_clock_that_was_set_back_hides_nothing() {
        let mut watch = watch();
        watch.see(sight(5_000_000, 5));
        assert!(watch.see(sight(3_000_000, 3)));
        assert_eq!(holds(&watch), 3);
    }

    #[test]
    fn a_state_that_is_shown_already_is_no_news() {
        let mut watch = watch();
        assert!(watch.see(sight(1, 1)));
        assert!(!watch.see(sight(2, 1)));
    }

    #[test]
    fn one_that_was_made_again_meanwhile_was_deleted() {
        let mut watch = watch();
        watch.see(sight(1, 1));
        let again = Semaphore { created_at: 2, ..Semaphore::default() };
        assert!(watch.see(WatchReply { at: 2, sweep_in: None, semaphore: Some(again) }));
        assert!(matches!(*watch.shown.borrow(), Shown::Deleted));
        assert!(!watch.see(sight(3, 1)), "nothing comes after it");
    }
}
