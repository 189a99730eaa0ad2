//! down, up, disown and refresh_proxy_leases: holds that no lease ends.

use std::time::Duration;

use grackle_client::Error;
use grackle_client::scripts::{Call, Outcome, PageStart, SemaphoreRules};
use grackle_client::wire::{Metadata, Semaphore};
use grackle_test_support::script_world::{
    BUDGET, DAY, NS, Node, OWNERLESS, SEM, World, granted, lease_id,
};

/// Longer than a call is remembered.
const LONG_AFTER: u64 = 601;

/// What downs and ups do.
#[allow(async_fn_in_trait, reason = "for the tests of this file alone")]
trait Plain {
    /// Was a permit taken?
    async fn down(&self, ticket: &str) -> bool;

    async fn up(&self, ticket: &str) -> Semaphore;

    async fn disown(&self, lease: &str) -> Result<Semaphore, Error>;

    async fn remembered(&self) -> usize;

    /// Deletes the semaphore, and sees that nothing of it is left.
    async fn end_without_owners(&self);
}

impl Plain for World {
    async fn down(&self, ticket: &str) -> bool {
        let reply = self.scripts.down(NS, SEM, ticket, &[]).await.unwrap();
        self.check().await;
        match reply.outcome {
            Outcome::Acquired => true,
            Outcome::Unavailable => false,
            other => panic!("{other:?}"),
        }
    }

    async fn up(&self, ticket: &str) -> Semaphore {
        let semaphore = self.scripts.up(NS, SEM, ticket, &[]).await;
        self.check().await;
        semaphore.unwrap()
    }

    async fn disown(&self, lease: &str) -> Result<Semaphore, Error> {
        let disowned = self.scripts.disown(NS, SEM, &lease_id(lease), &[]).await;
        self.check().await;
        disowned
    }

    async fn remembered(&self) -> usize {
        self.state().await.zset(&format!(":semaphore:{SEM}:calls")).len()
    }

    async fn end_without_owners(&self) {
        self.scripts.delete_semaphore(NS, SEM).await.unwrap();
        self.end().await;
    }
}

fn value(semaphore: &Semaphore) -> i64 {
    semaphore.permits - semaphore.active_holds
}

#[tokio::test]
async fn what_is_taken_is_one_holder_that_grows_and_shrinks() {
    let w = World::of(2).await;
    assert!(w.down("n:1").await);
    assert_eq!(w.picture().await, "holds ownerless:1");
    let first = w.state().await.holds(SEM)[OWNERLESS].fencing_token;
    assert!(w.down("n:2").await);
    assert!(!w.down("n:3").await, "none is left");
    assert_eq!(w.picture().await, "holds ownerless:2");
    let holders = w.scripts.list_semaphore_holders(NS, SEM, &PageStart::First, 9).await.unwrap();
    let shown: Vec<_> = holders.entries.iter().map(|it| (&*it.lease_id, it.weight)).collect();
    assert_eq!(shown, [(OWNERLESS, 2)]);
    assert!(holders.entries[0].fencing_token > first, "each grant has a larger one");
    assert_eq!(value(&w.up("n:4").await), 1);
    assert_eq!(value(&w.up("n:5").await), 2);
    assert_eq!(w.picture().await, "");
    assert_eq!(w.get().await.permits, 2);
    w.end().await;
}

#[tokio::test]
async fn where_none_is_taken_up_adds_a_permit_and_the_version_says_so() {
    let w = World::new().await;
    let metadata = Metadata::from([("a".to_owned(), "\"}".to_owned())]);
    let rules = SemaphoreRules::from(1);
    let made = w.scripts.create_semaphore("made", NS, SEM, rules, "what, {for}", &metadata).await;
    let made = made.unwrap();
    w.advance(5).await;
    let more = w.up("n:1").await;
    assert_eq!((more.permits, more.version, value(&more)), (2, made.version + 1, 2));
    assert_eq!((&more.description, &more.metadata), (&made.description, &made.metadata));
    assert_eq!(more.created_at, made.created_at);
    assert_eq!(more.updated_at, made.updated_at + 5_000_000_000);
    let late = w.scripts.update_semaphore("late", NS, SEM, made.version, rules, "", &metadata);
    assert!(matches!(late.await, Err(Error::VersionMismatch)), "its writer has not seen the up");
    w.end().await;
}

#[tokio::test]
async fn there_is_a_most() {
    let w = World::of((1 << 53) - 1).await;
    let refused = w.scripts.up(NS, SEM, "n:1", &[]).await.unwrap_err();
    assert!(
        matches!(&refused, Error::ResourceExhausted { limit } if limit == "permits"),
        "{refused:?}"
    );
    assert!(w.down("n:2").await);
    assert_eq!(value(&w.up("n:1").await), (1 << 53) - 1, "a refusal is not remembered");
    w.end().await;
}

#[tokio::test]
async fn asked_again_a_call_is_the_same_call() {
    let w = World::of(2).await;
    for _ in 0..3 {
        assert!(w.down("n:1").await);
        assert_eq!(w.picture().await, "holds ownerless:1");
    }
    assert!(w.down("n:2").await);
    assert!(w.down("n:1").await, "it was granted, whatever is left by now");
    for _ in 0..3 {
        assert_eq!(value(&w.up("n:3").await), 1);
    }
    w.end_without_owners().await;
}

#[tokio::test]
async fn a_refusal_is_not_remembered() {
    let w = World::of(1).await;
    assert!(w.down("n:1").await);
    assert!(!w.down("n:2").await);
    w.up("n:3").await;
    assert!(w.down("n:2").await);
    w.end_without_owners().await;
}

#[tokio::test]
async fn calls_are_remembered_until_they_are_acknowledged_or_too_old_to_repeat() {
    let w = World::of(9).await;
    w.down("n:1").await;
    w.up("n:2").await;
    let received = ["n:1".to_owned(), "n:2".to_owned()];
    w.scripts.down(NS, SEM, "n:3", &received).await.unwrap();
    w.check().await;
    assert_eq!(w.remembered().await, 1);
    w.advance(LONG_AFTER).await;
    w.scripts.up(NS, SEM, "n:4", &[]).await.unwrap();
    w.scripts.sweep(NS, "n").await.unwrap();
    w.check().await;
    assert_eq!(w.remembered().await, 1, "the young one");
    w.advance(LONG_AFTER).await;
    w.scripts.sweep(NS, "n").await.unwrap();
    assert_eq!(w.remembered().await, 0);
    let state = w.state().await;
    assert!(state.zset(":due").is_empty(), "{state:?}");
    w.end().await;
}

#[tokio::test]
async fn many_unacknowledged_calls_are_forgotten_in_bounded_steps() {
    let w = World::of(1).await;
    for number in 0..BUDGET + 9 {
        let taken = w.scripts.down(NS, SEM, &format!("n:{number}d"), &[]).await.unwrap();
        assert_eq!(taken.outcome, Outcome::Acquired);
        w.scripts.up(NS, SEM, &format!("n:{number}u"), &[]).await.unwrap();
    }
    let many = 2 * (BUDGET + 9);
    assert_eq!(w.remembered().await, many);
    w.clock.advance(Duration::from_secs(LONG_AFTER)).await;
    let monitor = w.monitor().await;
    w.sweep("n").await;
    assert_eq!(w.scripts_run(monitor).await, many.div_ceil(BUDGET));
    assert_eq!(w.remembered().await, 0);
    w.end().await;
}

#[tokio::test]
async fn up_hands_on_to_the_head_of_the_queue_in_the_same_step() {
    let w = World::with(1, "a b").await;
    let mut n = w.node("n").await;
    w.down("n:1").await;
    let (a, b) = (n.call("a"), n.call("b"));
    w.queue(&a, 1).await;
    w.queue(&b, 1).await;
    assert_eq!(value(&w.up("m:1").await), 0, "somebody else's already");
    assert_eq!(n.received().await, [granted(&[&a])]);
    assert_eq!(w.picture().await, "holds a:1, queue b:1");
    assert_eq!(value(&w.up("m:2").await), 0, "one permit more, and handed on");
    assert_eq!(n.received().await, [granted(&[&b])]);
    w.end().await;
}

#[tokio::test]
async fn down_does_not_pass_those_who_wait() {
    let (w, mut n) = behind_a_heavy_one().await;
    assert!(!w.down("m:1").await, "one is free, and somebody waits for two");
    w.up("m:2").await;
    assert_eq!(n.received().await.len(), 1);
    assert_eq!(w.picture().await, "holds a:2");
    w.end().await;
}

#[tokio::test]
async fn down_passes_those_whose_node_is_dead() {
    let (w, mut n) = behind_a_heavy_one().await;
    n.dies().await;
    assert!(w.down("m:1").await);
    assert_eq!(w.picture().await, "holds ownerless:2, parked a:2");
    w.end_without_owners().await;
}

/// One of two is free, and `a` waits for both.
async fn behind_a_heavy_one() -> (World, Node) {
    let w = World::with(2, "a").await;
    let n = w.node("n").await;
    w.down("n:1").await;
    w.queue(&n.call("a"), 2).await;
    (w, n)
}

#[tokio::test]
async fn a_down_that_nobody_waits_for_is_undone_if_it_took_anything() {
    let w = World::with(1, "a").await;
    let mut n = w.node("n").await;
    let undo = async |ticket: &str, undoes: &str| {
        let undone = w.scripts.undo_down(NS, SEM, ticket, undoes).await;
        w.check().await;
        value(&undone.unwrap())
    };
    assert_eq!(undo("n:u1", "n:1").await, 1, "it never came");
    assert!(w.down("n:1").await);
    let a = n.call("a");
    w.queue(&a, 1).await;
    for _ in 0..2 {
        assert_eq!(undo("n:u2", "n:1").await, 0);
        assert_eq!(w.picture().await, "holds a:1");
    }
    assert_eq!(n.received().await, [granted(&[&a])]);
    assert_eq!(undo("n:u3", "n:1").await, 0, "once");
    assert_eq!(w.get().await.permits, 1);
    w.end().await;
}

#[tokio::test]
async fn undone_after_somebodys_up_it_leaves_what_that_gave() {
    let w = World::of(1).await;
    w.down("n:1").await;
    assert_eq!(value(&w.up("m:1").await), 1);
    let undone = w.scripts.undo_down(NS, SEM, "n:2", "n:1").await.unwrap();
    assert_eq!(value(&undone), 2, "as if there had been the up alone");
    w.end().await;
}

#[tokio::test]
async fn a_hold_that_is_disowned_outlives_its_lease_and_changes_nothing_else() {
    let w = World::with(2, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.down("n:1").await;
    let b = n.call("b");
    w.queue(&b, 1).await;
    for _ in 0..2 {
        assert_eq!(value(&w.disown("a").await.unwrap()), 0);
        assert_eq!(w.picture().await, "holds ownerless:2, queue b:1");
    }
    assert!(n.received().await.is_empty(), "nothing was freed");
    let found = w.scripts.get_lease(NS, &lease_id("a")).await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    w.up("n:2").await;
    assert_eq!(n.received().await, [granted(&[&b])]);
    w.end_without_owners().await;
}

#[tokio::test]
async fn one_permit_is_disowned_whatever_was_asked_for_under_the_lease() {
    let w = World::with(3, "a b").await;
    let mut n = w.node("n").await;
    w.take(&n.call("a"), 3).await;
    let b = n.call("b");
    w.queue(&b, 2).await;
    assert_eq!(value(&w.disown("a").await.unwrap()), 0);
    assert_eq!(n.received().await, [granted(&[&b])]);
    assert_eq!(w.picture().await, "holds b:2 ownerless:1");
    w.end_without_owners().await;
}

/// A down that waited, under a proxy lease.
async fn wait_for_a_down(w: &World, n: &Node, name: &str) -> (String, Call) {
    let lease_id = format!("proxy_{name:X<28}");
    w.scripts.create_lease(NS, &lease_id, "node/n", DAY, &Metadata::new()).await.unwrap();
    let call = Call { lease_id: lease_id.clone(), ..n.call(name) };
    w.queue(&call, 1).await;
    (lease_id, call)
}

/// The value is right at each step; the permit that was added goes when the hold arrives.
#[tokio::test]
async fn an_up_while_a_hand_off_is_on_its_way_leaves_the_permits_as_they_were() {
    let w = World::of(1).await;
    let mut n = w.node("n").await;
    w.down("n:1").await;
    let (first, call) = wait_for_a_down(&w, &n, "a").await;
    let (second, next) = wait_for_a_down(&w, &n, "b").await;
    w.up("n:2").await;
    assert_eq!(n.received().await, [granted(&[&call])]);
    assert_eq!(value(&w.up("n:3").await), 0, "for the next");
    assert_eq!(n.received().await, [granted(&[&next])]);
    assert_eq!(w.get().await.permits, 2);
    let disown = async |lease: &str| {
        let semaphore = w.scripts.disown(NS, SEM, lease, &[]).await.unwrap();
        w.check().await;
        (semaphore.permits, value(&semaphore))
    };
    for _ in 0..2 {
        assert_eq!(disown(&first).await, (1, 0));
    }
    assert_eq!(disown(&second).await, (1, 0));
    assert_eq!(w.picture().await, "holds ownerless:1");
    assert_eq!(value(&w.up("n:4").await), 1);
    w.end().await;
}

#[tokio::test]
async fn a_down_that_dies_on_the_way_leaves_the_permit_that_was_added_for_it() {
    let w = World::of(1).await;
    let n = w.node("n").await;
    w.down("n:1").await;
    let (lease, _) = wait_for_a_down(&w, &n, "a").await;
    w.up("n:2").await;
    assert_eq!(value(&w.up("n:3").await), 1);
    w.scripts.revoke_lease(NS, &lease).await.unwrap();
    assert_eq!(value(&w.get().await), 2, "one down was answered, and two ups");
    let version = w.get().await.version;
    let updated = w.set_permits(5).await.unwrap();
    assert_eq!((updated.permits, updated.version), (5, version + 1));
    let (lease, _) = {
        for number in 0..5 {
            assert!(w.down(&format!("n:{}", 10 + number)).await);
        }
        wait_for_a_down(&w, &n, "b").await
    };
    w.up("n:20").await;
    let disowned = w.scripts.disown(NS, SEM, &lease, &[]).await.unwrap();
    assert_eq!((disowned.permits, value(&disowned)), (5, 0), "what was said since stands");
    w.end_without_owners().await;
}

#[tokio::test]
async fn what_was_lost_before_it_was_disowned_is_free() {
    let w = World::of(1).await;
    w.lease("a", Duration::from_secs(10)).await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 1).await;
    w.advance(10).await;
    let found = w.disown("a").await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    assert_eq!(value(&w.get().await), 1);
    w.leases("b").await;
    assert!(matches!(w.disown("b").await, Err(Error::LeaseNotFound)), "it holds nothing");
    w.end().await;
}

#[tokio::test]
async fn no_operation_on_leases_finds_them() {
    let w = World::of(2).await;
    w.down("n:1").await;
    let scripts = &w.scripts;
    let found = [
        scripts.get_lease(NS, OWNERLESS).await.map(drop),
        scripts.refresh_lease(NS, OWNERLESS, DAY).await.map(drop),
        scripts.revoke_lease(NS, OWNERLESS).await,
        scripts.release(NS, SEM, OWNERLESS).await.map(drop),
        scripts.disown(NS, SEM, OWNERLESS, &[]).await.map(drop),
    ];
    for found in found {
        assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    }
    let leases = scripts.list_leases(NS, "", &PageStart::First, 9).await.unwrap();
    let found = &leases.entries;
    assert!(found.is_empty(), "{found:?}");
    scripts.refresh_proxy_leases(NS, DAY, &[OWNERLESS.to_owned()]).await.unwrap();
    w.advance(10 * 365 * 86_400).await;
    assert_eq!(value(&w.get().await), 1, "and no time ends it");
    w.end_without_owners().await;
}

#[tokio::test]
async fn permits_that_leases_hold_are_not_what_up_gives_back() {
    let w = World::with(2, "a").await;
    let n = w.node("n").await;
    w.take(&n.call("a"), 2).await;
    assert!(!w.down("n:1").await);
    let more = w.up("n:2").await;
    assert_eq!((more.permits, more.active_holds), (3, 2));
    assert_eq!(w.picture().await, "holds a:2");
    w.end().await;
}

#[tokio::test]
async fn no_permits_are_taken_away_under_them() {
    let w = World::of(3).await;
    w.down("n:1").await;
    w.down("n:2").await;
    let found = w.set_permits(1).await;
    assert!(matches!(found, Err(Error::PermitsBelowActiveHolds)), "{found:?}");
    assert_eq!(value(&w.set_permits(2).await.unwrap()), 0);
    w.end_without_owners().await;
}

#[tokio::test]
async fn with_its_semaphore_and_with_its_namespace_all_is_gone() {
    let w = World::of(3).await;
    w.down("n:1").await;
    w.scripts.delete_semaphore(NS, SEM).await.unwrap();
    w.check().await;
    w.semaphore(SEM, 1).await;
    assert!(w.down("n:1").await, "of another that has its name nothing is remembered");
    w.scripts.delete_namespace(NS).await.unwrap();
    assert!(w.state().await.hashes.is_empty() && w.state().await.zsets.is_empty());
}

#[tokio::test]
async fn those_who_watch_are_told() {
    let w = World::of(1).await;
    let mut subscription = w.watch(SEM).await;
    w.down("n:1").await;
    w.up("n:2").await;
    w.up("n:3").await;
    let told: Vec<grackle_client::scripts::WatchReply> = subscription.messages_as().await;
    let values: Vec<_> =
        told.iter().map(|sight| value(sight.semaphore.as_ref().unwrap())).collect();
    assert_eq!(values, [0, 1, 2]);
    w.end().await;
}

#[tokio::test]
async fn leases_that_have_not_ended_are_kept() {
    let w = World::new().await;
    w.lease("a", Duration::from_secs(10)).await;
    w.lease("b", Duration::from_secs(20)).await;
    w.clock.advance(Duration::from_secs(15)).await;
    let ids = ["a", "b", "c"].map(lease_id);
    w.scripts.refresh_proxy_leases(NS, Duration::from_secs(30), &ids).await.unwrap();
    w.clock.advance(Duration::from_secs(29)).await;
    let found = w.scripts.get_lease(NS, &ids[0]).await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    assert!(w.scripts.get_lease(NS, &ids[1]).await.is_ok());
    w.advance(1).await;
    let found = w.scripts.get_lease(NS, &ids[1]).await;
    assert!(matches!(found, Err(Error::LeaseNotFound)), "{found:?}");
    w.end().await;
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let w = World::new().await;
    for (ns, there) in [(NS, "semaphore"), ("other", "namespace")] {
        let refused = [
            w.scripts.down(ns, SEM, "n:1", &[]).await.map(drop),
            w.scripts.up(ns, SEM, "n:1", &[]).await.map(drop),
            w.scripts.disown(ns, SEM, &lease_id("a"), &[]).await.map(drop),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().to_string(), format!("{there} not found"));
        }
    }
    w.end().await;
}
