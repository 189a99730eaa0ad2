//! Somebody who looks on at a test's semaphore.

use std::time::Duration;

use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::{Semaphore, WatchSemaphoreRequest};
use grackle_client::{Error, SemaphoreWatch};

use super::eventually::eventually;
use super::own_redis::OwnRedis;
use super::test_namespace::TestNamespace;

const SOON: Duration = Duration::from_secs(20);

/// A stream of the states of a [`TestNamespace`]'s semaphore.
pub struct Watcher(SemaphoreWatch);

impl Watcher {
    /// Sees nothing before it is asked to.
    pub fn at(space: &TestNamespace) -> Self {
        let (namespace_name, semaphore_name) = (space.namespace.clone(), space.name().to_owned());
        Self(space.client.watch_semaphore(WatchSemaphoreRequest { namespace_name, semaphore_name }))
    }

    pub async fn next(&mut self) -> Option<Result<SemaphoreEvent, Error>> {
        tokio::time::timeout(SOON, self.0.next()).await.expect("an event in time")
    }

    /// The next state.
    pub async fn state(&mut self) -> Semaphore {
        match self.next().await {
            Some(Ok(SemaphoreEvent::Semaphore(semaphore))) => semaphore,
            other => panic!("no state but {other:?}"),
        }
    }

    /// The first state that is so.
    pub async fn until(&mut self, is_so: impl Fn(&Semaphore) -> bool) -> Semaphore {
        loop {
            let state = self.state().await;
            if is_so(&state) {
                return state;
            }
        }
    }

    /// Sees that it was deleted, after whatever else there was to see, and nothing more.
    pub async fn until_deleted(&mut self) {
        loop {
            match self.next().await {
                Some(Ok(SemaphoreEvent::Semaphore(_))) => {}
                Some(Ok(SemaphoreEvent::Deleted)) => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(self.next().await.is_none(), "nothing after it");
    }
}

/// How many subscriptions Redis has to the channel of a space's semaphore.
pub async fn changes_seen(redis: &OwnRedis, space: &TestNamespace) -> i64 {
    let (prefix, namespace, name) = (redis.prefix(), &space.namespace, space.name());
    let channel = format!("{prefix}:{{{namespace}}}:watch:{name}");
    let (_, count): (String, i64) = redis.run(&["PUBSUB", "NUMSUB", &channel]).await;
    count
}

/// Returns when they are so many.
pub async fn until_seen(redis: &OwnRedis, space: &TestNamespace, count: i64) {
    eventually("so many subscriptions", SOON, async || {
        (changes_seen(redis, space).await == count).then_some(())
    })
    .await;
}
