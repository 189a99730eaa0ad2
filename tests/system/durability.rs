//! What is lost, and what is not, when Redis forgets its last writes or its clock steps: each
//! sentence of docs/running.md's "Durability".

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use grackle_client::wire::{
    AcquireOutcome, AcquireSemaphoreResponse, ListSemaphoreHoldersRequest,
    RefreshSemaphoreLeaseRequest,
};
use grackle_client::{Client, Config, Error, ReplicaAcks};
use grackle_test_support::{
    Disk, FOR_EVER, LONG, OwnRedis, Replicas, SOON, TestNamespace, TestRedis, eventually, granted,
};
use tokio::task::JoinSet;

const EVERY_SECOND: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "everysec"];
const MANY: i64 = 1_000_000;
const BRIEFLY: Duration = Duration::from_millis(300);

/// Acquires one permit at once; the fencing token.
async fn take(space: &TestNamespace, lease: &str) -> i64 {
    let answer = space.acquire(lease, 1, 0).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    answer.fencing_token
}

/// The tokens of all that is held, sorted.
async fn tokens_held(space: &TestNamespace) -> Vec<i64> {
    let mut request = ListSemaphoreHoldersRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        limit: 250,
        ..Default::default()
    };
    let mut tokens = Vec::new();
    loop {
        let page = space.client.list_semaphore_holders(request.clone()).await.unwrap();
        tokens.extend(page.holders.iter().map(|holder| holder.fencing_token));
        request.pagination_token = page.page.next_pagination_token;
        if request.pagination_token.is_empty() {
            tokens.sort_unstable();
            return tokens;
        }
    }
}

async fn forget_since(disk: &Disk, redis: &mut OwnRedis) {
    redis.kill();
    disk.lose_the_rest();
    redis.start_again().await;
}

/// What a caller was told, and when.
type Granted = (AcquireSemaphoreResponse, Instant);

/// Eight callers who acquire one permit after the other, until Redis is gone.
struct Crowd {
    granted: Arc<Mutex<Vec<Granted>>>,
    callers: JoinSet<()>,
}

impl Crowd {
    fn start(space: &TestNamespace) -> Self {
        let (granted, mut callers) = (Arc::<Mutex<Vec<Granted>>>::default(), JoinSet::new());
        for _ in 0..8 {
            let (space, granted) = (space.clone(), Arc::clone(&granted));
            callers.spawn(async move {
                while let Ok(lease) = space.try_lease(LONG).await {
                    let Ok(answer) = space.acquire(&lease, 1, 0).await else { return };
                    granted.lock().unwrap().push((answer, Instant::now()));
                }
            });
        }
        Self { granted, callers }
    }

    /// Returns when so many were granted, with all of them still asking.
    async fn has(&self, count: usize) {
        eventually("so many are granted", 3 * SOON, async || {
            (self.granted.lock().unwrap().len() >= count).then_some(())
        })
        .await;
    }

    /// What they were told until Redis was gone, by their tokens.
    async fn granted(self) -> Vec<Granted> {
        self.callers.join_all().await;
        let mut granted = std::mem::take(&mut *self.granted.lock().unwrap());
        granted.sort_by_key(|(answer, _)| answer.fencing_token);
        granted
    }
}

/// How many of the grants are held no more; it is the last that are not.
fn lost(granted: &[Granted], held: &[i64], what: &str) -> usize {
    let is_held = |(answer, _): &&Granted| held.binary_search(&answer.fencing_token).is_ok();
    let kept = granted.iter().take_while(is_held).count();
    assert_eq!(granted[kept..].iter().filter(is_held).count(), 0, "not the last are lost");
    let lost = granted.len() - kept;
    let ends = [granted.get(kept.saturating_sub(1)), granted.last()].map(|end| end.unwrap().1);
    let span = ends[1].duration_since(ends[0]);
    eprintln!("{what}: {lost} of {} grants are lost, the last {span:?}", granted.len());
    lost
}

/// A client that does not wait for a Redis that is gone.
async fn impatient(mut config: Config) -> Client {
    config.retry_for = Duration::from_millis(100);
    Client::connect_with(config).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_redis_forgets_the_last_grants_at_most() {
    let mut redis = TestRedis::own_with(&EVERY_SECOND).await;
    let space = TestNamespace::create(redis.client().await, MANY).await;
    let crowd = Crowd::start(&space.through(impatient(redis.config()).await));
    crowd.has(2_000).await;
    redis.kill();
    let granted = crowd.granted().await;
    redis.start_again().await;
    lost(&granted, &tokens_held(&space).await, "kill -9");
    let next = take(&space, &space.lease().await).await;
    assert!(next > granted[granted.len() - 1].0.fencing_token, "tokens rise, whatever was lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_takes_over_lacks_the_last_grants_at_most_and_none_that_it_acked() {
    for acks in [None, Some(ReplicaAcks::new(1, Duration::from_secs(1)))] {
        let mut redis = Replicas::start(1).await;
        let space = TestNamespace::create(redis.client().await, MANY).await;
        let mut config = redis.config();
        config.replica_acks = acks;
        let crowd = Crowd::start(&space.through(impatient(config).await));
        crowd.has(2_000).await;
        redis.kill_master();
        redis.promote(0).await;
        let granted = crowd.granted().await;
        let there = space.through(redis.client_of(0).await);
        let held = tokens_held(&there).await;
        if acks.is_none() {
            lost(&granted, &held, "failover");
            continue;
        }
        let acked = granted.into_iter().filter(|(answer, _)| answer.acked_replicas == Some(1));
        let acked: Vec<Granted> = acked.collect();
        let found = acked.len();
        assert!(found >= 1_000, "{found:?}");
        assert_eq!(lost(&acked, &held, "failover, of those acked"), 0);
    }
}

#[tokio::test]
async fn what_the_disk_was_not_told_may_be_granted_again_with_a_larger_token() {
    let mut redis = TestRedis::own_with(&EVERY_SECOND).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (first, second) = (space.lease().await, space.lease().await);
    let disk = Disk::of(redis.folder());
    let lost = take(&space, &first).await;
    forget_since(&disk, &mut redis).await;
    assert_eq!(space.state().await.active_holds, 0, "its owner believes in it all the same");
    let again = take(&space, &second).await;
    assert!(again > lost, "{again} after {lost}");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_release_that_is_forgotten_holds_until_the_lease_ends() {
    let mut redis = TestRedis::own_with(&EVERY_SECOND).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let (holder, next) = (space.lease().await, space.lease().await);
    take(&space, &holder).await;
    let disk = Disk::of(redis.folder());
    space.release(&holder).await;
    forget_since(&disk, &mut redis).await;
    let refused = space.acquire(&next, 1, 0).await.unwrap();
    assert_eq!(refused.outcome, AcquireOutcome::Unavailable);
    space.revoke(&holder).await;
    take(&space, &next).await;
    redis.assert_nothing_left(&space.client).await;
}

/// Each alone is harmless: what is given next is larger than what is remembered, and than the time.
#[tokio::test]
async fn only_lost_grants_and_a_clock_behind_them_give_a_token_twice() {
    let mut redis = TestRedis::own_with(&EVERY_SECOND).await;
    let space = TestNamespace::create(redis.client_on_test_clock().await, 9).await;
    let (clock, begin) = (redis.clock(TestNamespace::NAMESPACE), 1_800_000_000_000_000);
    clock.set(begin).await;
    let mut leases = Vec::new();
    for _ in 0..4 {
        leases.push(space.lease().await);
    }
    let remembered = take(&space, &leases[0]).await;
    let disk = Disk::of(redis.folder());
    clock.set(begin + 10).await;
    let lost = take(&space, &leases[1]).await;
    assert_eq!((remembered, lost), (begin, begin + 10));
    clock.set(begin - 1_000_000).await;
    assert_eq!(take(&space, &leases[2]).await, lost + 1, "the clock went back, nothing is lost");
    forget_since(&disk, &mut redis).await;
    clock.set(begin + 20).await;
    assert_eq!(take(&space, &leases[1]).await, begin + 20, "lost, but the clock went on");
    forget_since(&disk, &mut redis).await;
    clock.set(lost).await;
    assert_eq!(take(&space, &leases[3]).await, lost, "both");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn without_an_append_only_file_a_restart_forgets_all() {
    let mut redis = TestRedis::own_with(&["--appendonly", "no", "--save", ""]).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let lease = space.lease().await;
    take(&space, &lease).await;
    redis.kill();
    redis.start_again().await;
    let refused = space.acquire(&lease, 1, 0).await.unwrap_err();
    assert!(matches!(refused, Error::NamespaceNotFound), "{refused}");
    let found = redis.keys_left().await;
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_refresh_that_is_forgotten_lets_the_lease_end_when_it_would_have_without() {
    let mut redis = TestRedis::own_with(&EVERY_SECOND).await;
    let space = TestNamespace::create(redis.client_on_test_clock().await, 1).await;
    let (clock, begin) = (redis.clock(TestNamespace::NAMESPACE), 1_800_000_000_000_000);
    clock.set(begin).await;
    let (holder, next) = (space.lease_for(60).await, space.lease_for(3_600).await);
    take(&space, &holder).await;
    let disk = Disk::of(redis.folder());
    clock.set(begin + 30_000_000).await;
    let request = RefreshSemaphoreLeaseRequest {
        namespace_name: space.namespace.clone(),
        lease_id: holder.clone(),
        ttl_seconds: 60,
    };
    space.client.refresh_semaphore_lease(request).await.unwrap();
    forget_since(&disk, &mut redis).await;
    clock.set(begin + 59_999_999).await;
    let refused = space.acquire(&next, 1, 0).await.unwrap();
    assert_eq!(refused.outcome, AcquireOutcome::Unavailable);
    clock.set(begin + 60_000_000).await;
    take(&space, &next).await;
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_master_that_no_replica_follows_may_be_told_to_grant_nothing() {
    let redis = Replicas::start(0).await;
    let space = TestNamespace::create(redis.client().await, 1).await;
    let hasty = space.through(impatient(redis.config()).await);
    let (first, next) = (space.lease().await, space.lease().await);
    let _: String = redis.run(&["CONFIG", "SET", "min-replicas-to-write", "1"]).await;
    let refused = hasty.acquire(&first, 1, 0).await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable { .. }), "{refused:?}");
    let _: String = redis.run(&["CONFIG", "SET", "min-replicas-to-write", "0"]).await;
    take(&hasty, &next).await;
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn what_a_replica_has_acked_survives_its_promotion_and_the_rest_may_be_granted_again() {
    let mut redis = Replicas::start(1).await;
    let space = TestNamespace::create(redis.client_waiting_for(1, FOR_EVER).await, 3).await;
    let hasty = space.through(redis.client_waiting_for(1, BRIEFLY).await);
    let (acked, unacked, next) = (space.lease().await, space.lease().await, space.lease().await);
    let answer = space.acquire(&acked, 2, 0).await.unwrap();
    assert_eq!(answer.acked_replicas, Some(1));
    redis.cut_off(0);
    let lost = hasty.acquire(&unacked, 1, 0).await.unwrap();
    assert_eq!((lost.outcome, lost.acked_replicas), (AcquireOutcome::Acquired, Some(0)));
    redis.kill_master();
    redis.promote(0).await;
    let there = space.through(redis.client_of(0).await);
    assert_eq!(tokens_held(&there).await, [answer.fencing_token]);
    let again = there.acquire(&next, 1, 0).await.unwrap();
    assert_eq!(again.outcome, AcquireOutcome::Acquired, "the permit that another believes in");
    let found = again.fencing_token;
    assert!(found > lost.fencing_token, "{found:?}");
}

#[tokio::test]
async fn a_clock_that_steps_forwards_ends_leases_earlier_by_the_step() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client_on_test_clock().await, 1).await;
    let clock = redis.clock(TestNamespace::NAMESPACE);
    clock.advance(Duration::ZERO).await;
    let (holder, next) = (space.lease_for(60).await, space.lease_for(3_600).await);
    let before = take(&space, &holder).await;
    clock.advance(Duration::from_secs(59)).await;
    assert_eq!(space.state().await.active_holds, 1, "a second is left");
    clock.advance(Duration::from_secs(1)).await;
    assert!(take(&space, &next).await > before, "its owner has had no second of the sixty");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn a_clock_that_steps_back_makes_leases_longer_by_the_step_and_tokens_rise_on() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client_on_test_clock().await, 2).await;
    let (clock, begin) = (redis.clock(TestNamespace::NAMESPACE), 1_800_000_000_000_000);
    clock.set(begin).await;
    let (holder, next) = (space.lease_for(60).await, space.lease_for(3_600).await);
    let before = take(&space, &holder).await;
    clock.set(begin - 3_600_000_000).await;
    assert_eq!(take(&space, &next).await, before + 1);
    clock.advance(Duration::from_secs(3_659)).await;
    assert_eq!(space.state().await.active_holds, 2, "an hour longer than was said");
    clock.advance(Duration::from_secs(1)).await;
    assert_eq!(space.state().await.active_holds, 1, "and no longer than that");
    redis.assert_nothing_left(&space.client).await;
}

#[tokio::test]
async fn no_step_of_the_clock_ends_a_wait() {
    for step in [-3_600_000_000, 3_600_000_000] {
        let redis = TestRedis::shared().await;
        let space = TestNamespace::create(redis.client_on_test_clock().await, 1).await;
        let (clock, begin) = (redis.clock(TestNamespace::NAMESPACE), 1_800_000_000_000_000);
        clock.set(begin).await;
        let (holder, next) = (space.lease_for(86_400).await, space.lease_for(86_400).await);
        let before = take(&space, &holder).await;
        let waiter = space.wait(&next, 1).await;
        clock.set(begin + step).await;
        space.release(&holder).await;
        assert!(granted(waiter).await > before, "by {step} µs");
        redis.assert_nothing_left(&space.client).await;
    }
}
