//! Who stands in the queues, looked at from outside.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::fleet::{Fleet, PERMITS};
use grackle_test_support::{RawConnection, TestNamespace};

const EVERY: Duration = Duration::from_millis(3);

/// When each lease was seen in the queue of a semaphore, having not been there the look before.
pub(crate) type Sightings = HashMap<(usize, String), Vec<Sighting>>;

/// A look at the queue, which began and ended then.
#[derive(Clone, Copy)]
pub(crate) struct Sighting {
    pub(crate) after: Instant,
    pub(crate) before: Instant,
}

/// Looks at every queue again and again, while it can.
pub(crate) struct Observer {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Sightings>,
}

impl Observer {
    pub(crate) fn of(fleet: &Fleet) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (prefix, raw) =
            (fleet.redis.prefix().to_owned(), RawConnection::new(fleet.redis.url()));
        let task = tokio::spawn(watch(prefix, raw, Arc::clone(&stop)));
        Self { stop, task }
    }

    pub(crate) async fn finish(self) -> Sightings {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.expect("no panic")
    }
}

async fn watch(prefix: String, raw: RawConnection, stop: Arc<AtomicBool>) -> Sightings {
    let mut sightings = Sightings::new();
    let mut there: Vec<HashSet<String>> = vec![HashSet::new(); PERMITS.len()];
    while !stop.load(Ordering::Relaxed) {
        for (semaphore, there) in there.iter_mut().enumerate() {
            let name = Fleet::semaphore(semaphore);
            let queue = format!("{prefix}:{{{}}}:semaphore:{name}:queue", TestNamespace::NAMESPACE);
            let after = Instant::now();
            let Ok(leases) = raw.try_run::<HashSet<String>>(&["ZRANGE", &queue, "0", "-1"]).await
            else {
                continue;
            };
            let sighting = Sighting { after, before: Instant::now() };
            for lease in leases.difference(there) {
                sightings.entry((semaphore, lease.clone())).or_default().push(sighting);
            }
            *there = leases;
        }
        tokio::time::sleep(EVERY).await;
    }
    sightings
}
