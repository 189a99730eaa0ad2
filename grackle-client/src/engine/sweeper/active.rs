//! Keeps one namespace swept while calls of this node wait in it, or a semaphore there is watched.
//!
//! A sweep happens when something is due, which is how the permits of a crashed holder go on within
//! milliseconds of its lease's end, and every few seconds to renew the node's alive mark. Between
//! sweeps nothing is sent.

use std::sync::Weak;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::engine::Node;
use crate::engine::waiters::SWEEP_EVERY;

/// How long a namespace is still listened to after its last wait or watch.
const LINGER: Duration = Duration::from_secs(30);
/// After that long, and up to half as long again, all calls are asked about, whatever was heard.
const RECHECK_AFTER: Duration = Duration::from_secs(90);
/// Redis knowing fewer calls than this node, so often in a row, is no message still on its way.
/// (None at all is what a node finds that was stopped for longer than its mark was good.)
const STRIKES: u32 = 2;

pub(crate) async fn run(
    node: Weak<Node>,
    namespace: String,
    mut sweep_at: watch::Receiver<Instant>,
) {
    let mut beat = Beat::new();
    loop {
        let at = *sweep_at.borrow_and_update();
        tokio::select! {
            () = tokio::time::sleep_until(at.into()) => {}
            changed = sweep_at.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        }
        let Some(node) = node.upgrade() else { return };
        if !beat.sweep(&node, &namespace).await {
            return;
        }
    }
}

struct Beat {
    idle_since: Option<Instant>,
    recheck_at: Instant,
    strikes: u32,
    /// How often in a row Redis saw no subscription though the node has one.
    deaf: u32,
}

impl Beat {
    fn new() -> Self {
        Self {
            idle_since: None,
            recheck_at: Instant::now() + jittered(RECHECK_AFTER),
            strikes: 0,
            deaf: 0,
        }
    }

    /// One round; false where the namespace is of no more interest.
    async fn sweep(&mut self, node: &Node, namespace: &str) -> bool {
        node.convoys.beat(namespace, node.waits.crowds(namespace));
        let waiting = node.waits.count(namespace);
        if waiting == 0 && !node.watches.any_in(namespace) {
            return self.linger(node, namespace);
        }
        self.idle_since = None;
        node.waits.sweep_begins(namespace, SWEEP_EVERY);
        match node.scripts.sweep(namespace, &node.id).await {
            Ok(reply) => {
                node.waits.sweep_within(namespace, reply.sweep_in);
                let deaf = reply.heard == 0 && node.waits.heard_by(namespace).is_some();
                self.deaf = if deaf { self.deaf + 1 } else { 0 };
                if self.deaf == STRIKES {
                    node.listen_again(namespace);
                }
                self.strikes = match reply.waiting {
                    0 => STRIKES,
                    known if known < waiting => self.strikes + 1,
                    _ => 0,
                };
                self.recheck(node, namespace).await;
            }
            Err(error) => tracing::warn!(%error, namespace, "sweep failed; the next is due soon"),
        }
        true
    }

    fn linger(&mut self, node: &Node, namespace: &str) -> bool {
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        let left = LINGER.saturating_sub(since.elapsed());
        if left.is_zero() && node.unlisten(namespace) {
            return false;
        }
        node.waits.sweep_begins(namespace, left.max(SWEEP_EVERY));
        true
    }

    async fn recheck(&mut self, node: &Node, namespace: &str) {
        if self.strikes < STRIKES && Instant::now() < self.recheck_at {
            return;
        }
        self.strikes = 0;
        self.recheck_at = Instant::now() + jittered(RECHECK_AFTER);
        if let Err(error) = node.resume(namespace, node.waits.in_namespace(namespace)).await {
            tracing::warn!(%error, namespace, "re-check failed; the next one follows");
        }
    }
}

/// Up to half as long again, so that nodes which began together do not ask together.
fn jittered(duration: Duration) -> Duration {
    let unit = f64::from(nanoid::rngs::default(1)[0]) / 255.0;
    duration.mul_f64(1.0 + unit / 2.0)
}
