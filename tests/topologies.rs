//! The same promises on every layout of Redis: TCP, Unix socket, TLS, a user of few rights, Sentinel,
//! Cluster.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use grackle_client::wire::{AcquireOutcome, DownSemaphoreRequest, UpSemaphoreRequest};
use grackle_client::{Client, ErrorKind, ReplicaAcks};
use grackle_test_support::{
    Acquired, Cluster, PlainConnection, Sentinels, TestNamespace, TestRedis, TlsRedis, Traffic,
    Turn, Watcher, eventually, granted,
};
use tokio::task::JoinHandle;

/// A replica takes a dead master's place within that, on a busy machine too.
const REPLACED_WITHIN: Duration = Duration::from_secs(30);
/// A dead master is not missed sooner: what was granted by then, it granted.
const AT_FIRST: Duration = Duration::from_millis(400);

/// All that a caller needs, on two nodes; nothing is left at the end.
async fn core_suite(redis: &TestRedis) {
    let here = TestNamespace::create(redis.client().await, 2).await;
    let there = here.through(redis.client().await);
    a_release_hands_on(&here, &there).await;
    a_wait_times_out(&there).await;
    an_expired_lease_hands_on(&here, &there).await;
    a_dropped_call_leaves_the_queue(&here, &there).await;
    a_watch_sees_what_another_node_does(&here, &there).await;
    an_up_wakes_a_down(&here, &there).await;
    redis.assert_nothing_left(&here.client).await;
}

async fn a_release_hands_on(here: &TestNamespace, there: &TestNamespace) {
    let holder = here.lease().await;
    here.take(&holder, 2).await;
    let mut waiters = Vec::new();
    for node in [there, here, there, here] {
        let lease = node.lease().await;
        waiters.push((node.wait(&lease, 2).await, lease));
    }
    here.release(&holder).await;
    let mut last = 0;
    for (waiter, lease) in waiters {
        let token = granted(waiter).await;
        assert!(token > last, "{token} after {last}");
        last = token;
        there.release(&lease).await;
    }
    let state = here.state().await;
    assert_eq!((state.active_holds, state.waiting_count), (0, 0));
}

async fn a_wait_times_out(node: &TestNamespace) {
    let (holder, waiting) = (node.lease().await, node.lease().await);
    node.take(&holder, 1).await;
    let began = Instant::now();
    let answer = node.acquire(&waiting, 2, 1).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::TimedOut);
    assert!(began.elapsed() >= Duration::from_secs(1));
    let answer = node.acquire(&waiting, 2, 0).await.unwrap();
    assert_eq!(answer.outcome, AcquireOutcome::Unavailable);
    node.release(&holder).await;
}

async fn an_expired_lease_hands_on(here: &TestNamespace, there: &TestNamespace) {
    let (crashed, waiting) = (here.lease_for(1).await, there.lease().await);
    here.take(&crashed, 2).await;
    granted(there.wait(&waiting, 1).await).await;
    there.release(&waiting).await;
}

async fn a_dropped_call_leaves_the_queue(here: &TestNamespace, there: &TestNamespace) {
    let (holder, dropped, next) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let call = there.wait(&dropped, 2).await;
    let behind = here.wait(&next, 1).await;
    call.abort();
    granted(behind).await;
    here.release(&holder).await;
    here.release(&next).await;
}

async fn a_watch_sees_what_another_node_does(here: &TestNamespace, there: &TestNamespace) {
    let mut looker = Watcher::at(here);
    assert_eq!(looker.state().await.active_holds, 0);
    let lease = there.lease().await;
    there.take(&lease, 2).await;
    looker.until(|state| state.active_holds == 2).await;
    there.revoke(&lease).await;
    looker.until(|state| state.active_holds == 0).await;
}

async fn an_up_wakes_a_down(here: &TestNamespace, there: &TestNamespace) {
    let down = |timeout_seconds| DownSemaphoreRequest {
        namespace_name: here.namespace.clone(),
        semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        timeout_seconds,
    };
    let up = async || {
        let request = UpSemaphoreRequest {
            namespace_name: here.namespace.clone(),
            semaphore_name: TestNamespace::SEMAPHORE.to_owned(),
        };
        here.client.up_semaphore(request).await.unwrap().semaphore
    };
    for _ in 0..2 {
        let answer = there.client.down_semaphore(down(0)).await.unwrap();
        assert_eq!(answer.outcome, AcquireOutcome::Acquired);
    }
    let (client, waits) = (there.client.clone(), down(60));
    let waiting = tokio::spawn(async move { client.down_semaphore(waits).await });
    here.until_waiting(1).await;
    assert_eq!(up().await.active_holds, 2, "handed on");
    assert_eq!(waiting.await.unwrap().unwrap().outcome, AcquireOutcome::Acquired);
    up().await;
    let last = up().await;
    assert_eq!((last.permits, last.active_holds), (2, 0));
}

/// With a client whose grants wait for so many replicas.
async fn acked(redis: &TestRedis, replicas: u32, namespace: &str) -> TestNamespace {
    let mut config = redis.config();
    config.replica_acks = Some(ReplicaAcks::new(replicas, Duration::from_secs(2)));
    TestNamespace::create_as(Client::connect_with(config).await.unwrap(), namespace, 2).await
}

/// Subscriptions end, and the waits go on.
async fn dropped_subscriptions_are_made_again(redis: &TestRedis, masters: &[PlainConnection]) {
    let here = TestNamespace::create(redis.client().await, 1).await;
    let there = here.through(redis.client().await);
    let (holder, first, second) = (here.lease().await, here.lease().await, here.lease().await);
    here.take(&holder, 1).await;
    let waiters = [there.wait(&first, 1).await, here.wait(&second, 1).await];
    for master in masters {
        let _: i64 = master.run(&["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    }
    here.release(&holder).await;
    let [one, other] = waiters;
    // Whichever is back first: order is promised among those that listen.
    let (one, other) =
        tokio::join!(async { granted_then_released(one, &here, &first).await }, async {
            granted_then_released(other, &here, &second).await
        },);
    assert_ne!(one, other);
    redis.assert_nothing_left(&here.client).await;
}

async fn granted_then_released(
    waiter: JoinHandle<Acquired>,
    space: &TestNamespace,
    lease: &str,
) -> i64 {
    let token = granted(waiter).await;
    space.release(lease).await;
    token
}

/// A holder, and those that wait behind it through two nodes.
struct Line {
    space: TestNamespace,
    holder: String,
    waiters: Vec<(JoinHandle<Acquired>, String)>,
}

impl Line {
    /// So many, on two nodes of their own that do nothing but wait.
    async fn form(redis: &TestRedis, namespace: &str, count: usize) -> Self {
        let space = TestNamespace::create_as(redis.client().await, namespace, 1).await;
        let nodes = [space.through(redis.client().await), space.through(redis.client().await)];
        let holder = space.lease().await;
        space.take(&holder, 1).await;
        let mut waiters = Vec::new();
        for node in nodes.iter().cycle().take(count) {
            let lease = space.lease().await;
            waiters.push((node.wait(&lease, 1).await, lease));
        }
        Self { space, holder, waiters }
    }

    /// Waits until that server reaches so many nodes, and all stand in line there.
    async fn stands_at(&self, redis: &TestRedis, master: &PlainConnection, nodes: usize) {
        let channels = format!("{}:{{{}}}:*", redis.prefix(), self.space.namespace);
        eventually("the nodes listen there", REPLACED_WITHIN, async || {
            let ask = ["PUBSUB", "CHANNELS", &channels];
            let received: Vec<String> = master.try_run(&ask).await.ok()?;
            (received.len() == nodes + 1).then_some(())
        })
        .await;
        self.space.until_waiting(i64::try_from(self.waiters.len()).unwrap()).await;
    }

    /// Lets one in after the other; in the order of arrival, if that is promised.
    async fn drains(self, in_order: bool) {
        self.space.release(&self.holder).await;
        let space = &self.space;
        let turns = self.waiters.into_iter().map(|(waiter, lease)| async move {
            granted_then_released(waiter, space, &lease).await
        });
        let tokens = futures_util::future::join_all(turns).await;
        assert!(!in_order || tokens.is_sorted(), "not in the order of arrival: {tokens:?}");
        let state = space.state().await;
        assert_eq!((state.active_holds, state.waiting_count), (0, 0));
    }
}

mod tcp {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let redis = TestRedis::own().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }
}

mod unix_socket {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("redis.sock");
        let server = TestRedis::own_with(&["--unixsocket", path.to_str().unwrap()]).await;
        let url = format!("redis+unix://{}", path.display());
        let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }
}

mod acl {
    use super::*;

    #[tokio::test]
    async fn the_core_suite_by_a_user_of_the_least_rights() {
        let server = TestRedis::own().await;
        let url = format!("redis://grackle:secret@127.0.0.1:{}", server.port());
        let redis = TestRedis::laid_out(url, vec![server.raw().clone()]).await;
        let (keys, channels) = (format!("~{}:*", redis.prefix()), format!("&{}:*", redis.prefix()));
        let user = [
            "ACL",
            "SETUSER",
            "grackle",
            "reset",
            "on",
            ">secret",
            "resetchannels",
            &keys,
            &channels,
        ];
        let _: () = server.run(&[&user[..], &grackle_test_support::RIGHTS].concat()).await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }
}

mod tls {
    use super::*;

    async fn start() -> Option<TlsRedis> {
        let server = TlsRedis::start().await;
        if server.is_none() {
            eprintln!("skipped: tls: this Redis was built without");
        }
        server
    }

    #[tokio::test]
    async fn the_core_suite() {
        let Some(server) = start().await else { return };
        let redis = server.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }

    #[tokio::test]
    async fn an_unknown_authority_is_not_trusted_and_said_so() {
        let Some(server) = start().await else { return };
        let error = Client::connect(&server.url()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

mod sentinel {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let sentinels = Sentinels::start().await;
        let redis = sentinels.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &[redis.raw().clone()]).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failover_loses_no_wait_and_no_order() {
        let mut sentinels = Sentinels::start().await;
        let mut redis = sentinels.redis().await;
        let line = Line::form(&redis, "line", 20).await;
        let here = TestNamespace::create(redis.client().await, 1).await;
        let nodes = [here.clone(), here.through(redis.client().await)];
        let traffic = Traffic::start(&nodes, 8).await;
        traffic.goes_on(100, REPLACED_WITHIN).await;
        // The leases and the line, at least: what is under way may be lost.
        sentinels.replicated().await;
        sentinels.first_master().process().kill();
        let lost_until = Instant::now() + AT_FIRST;
        let master = sentinels.next_master().await;
        traffic.goes_on(100, REPLACED_WITHIN).await;
        Turn::check(&traffic.finish().await, Some(lost_until));
        line.stands_at(&redis, &master, 2).await;
        line.drains(true).await;
        redis.masters_are(vec![master]);
        redis.assert_nothing_left(&here.client).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_grant_that_both_replicas_acked_survives_the_failover() {
        let mut sentinels = Sentinels::start().await;
        let redis = sentinels.redis().await;
        let space = acked(&redis, 2, TestNamespace::NAMESPACE).await;
        let lease = space.lease().await;
        let answer = space.acquire(&lease, 1, 0).await.unwrap();
        assert_eq!((answer.outcome, answer.acked_replicas), (AcquireOutcome::Acquired, Some(2)));
        sentinels.first_master().process().kill();
        sentinels.next_master().await;
        assert_eq!(space.state().await.active_holds, 1);
        // The one that is left follows the new master: grants go on being counted.
        let lease = space.lease().await;
        eventually("the new master has a replica", REPLACED_WITHIN, async || {
            let answer = space.acquire(&lease, 1, 0).await.ok()?;
            (answer.acked_replicas == Some(1)).then_some(())
        })
        .await;
    }

    #[tokio::test]
    async fn one_silent_sentinel_and_one_dead_one_do_not_keep_a_client_away() {
        let sentinels = Sentinels::start().await;
        let redis = sentinels.redis().await;
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (silent, dead) = (silent.local_addr().unwrap(), "127.0.0.1:1");
        let url = redis.url().replace("redis+sentinel://", "");
        let url = format!("redis+sentinel://{dead},{silent},{url}");
        let redis = TestRedis::laid_out(url, vec![redis.raw().clone()]).await;
        core_suite(&redis).await;
    }
}

mod cluster {
    use super::*;

    #[tokio::test]
    async fn the_core_suite() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        core_suite(&redis).await;
        dropped_subscriptions_are_made_again(&redis, &cluster.masters().await).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_grant_is_acked_by_the_replica_of_the_namespaces_master() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        for master in 0..3 {
            let namespace = &on_node(&cluster, master).await[0];
            let space = acked(&redis, 1, namespace).await;
            let (holder, next) = (space.lease().await, space.lease().await);
            let answer = space.acquire(&holder, 2, 0).await.unwrap();
            assert_eq!(answer.acked_replicas, Some(1));
            let waiter = space.wait(&next, 1).await;
            space.release(&holder).await;
            assert_eq!(waiter.await.unwrap().unwrap().acked_replicas, Some(1));
            let replica = &cluster.node(master + 3).raw;
            let waits = |info: String| info.contains("cmdstat_wait:");
            assert!(!waits(replica.run(&["INFO", "commandstats"]).await), "asked of the master");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn thirty_namespaces_on_all_masters_have_waiters() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        for number in 0..30 {
            let namespace = format!("ns-{number}");
            owners.push(cluster.owner(&format!("{{{namespace}}}")).await);
            lines.push(Line::form(&redis, &namespace, 2).await);
        }
        owners.sort_unstable();
        owners.dedup();
        assert_eq!(owners, [0, 1, 2]);
        let client = lines[0].space.client.clone();
        let drained = lines.into_iter().map(|line| line.drains(true));
        futures_util::future::join_all(drained).await;
        redis.assert_nothing_left(&client).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failover_loses_no_wait_and_no_order() {
        failover(&[0, 1, 2]).await;
    }

    /// No server says then that the namespace has moved: the one that is asked next has it.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_failover_to_a_server_that_the_url_names_loses_no_wait_and_no_order() {
        failover(&[0, 3]).await;
    }

    async fn failover(seeds: &[usize]) {
        let mut cluster = Cluster::start().await;
        let mut redis = cluster.redis_at(cluster.url_by(seeds)).await;
        let (broken, whole) = (on_node(&cluster, 0).await, on_node(&cluster, 1).await);
        let line = Line::form(&redis, &broken[0], 20).await;
        let mut traffics = Vec::new();
        for namespace in [&broken[1], &whole[0]] {
            let here = TestNamespace::create_as(redis.client().await, namespace, 1).await;
            let nodes = [here.clone(), here.through(redis.client().await)];
            traffics.push(Traffic::start(&nodes, 8).await);
        }
        for traffic in &traffics {
            traffic.goes_on(100, REPLACED_WITHIN).await;
        }
        cluster.replicated().await;
        cluster.server(0).process().kill();
        let lost_until = Instant::now() + AT_FIRST;
        cluster.replaced(0).await;
        for traffic in &traffics {
            traffic.goes_on(100, REPLACED_WITHIN).await;
        }
        for (traffic, lost_until) in traffics.into_iter().zip([Some(lost_until), None]) {
            Turn::check(&traffic.finish().await, lost_until);
        }
        line.stands_at(&redis, &cluster.node(3).raw, 2).await;
        let client = line.space.client.clone();
        line.drains(true).await;
        redis.masters_are(cluster.masters().await);
        redis.assert_nothing_left(&client).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_slot_that_moves_in_mid_traffic_takes_its_waiters_along() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        let namespace = &on_node(&cluster, 0).await[0];
        let line = Line::form(&redis, namespace, 20).await;
        line.space.semaphore("busy", 1).await;
        let nodes = [line.space.clone(), line.space.through(redis.client().await)]
            .map(|space| space.on_semaphore("busy"));
        let traffic = Traffic::start(&nodes, 8).await;
        traffic.goes_on(100, REPLACED_WITHIN).await;
        let slot = cluster.slot(&format!("{{{namespace}}}")).await;
        cluster.begin_to_move(slot, 0, 1).await;
        while cluster.move_keys(slot, 0, 1, 3).await > 0 {
            // Calls come between, to find a namespace that is half here and half there.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cluster.end_to_move(slot, 1).await;
        traffic.goes_on(100, REPLACED_WITHIN).await;
        Turn::check(&traffic.finish().await, None);
        // Those of the traffic listen in the same namespace.
        line.stands_at(&redis, &cluster.node(1).raw, 4).await;
        counts_are_records(&redis, &cluster.node(1).raw, &line.space).await;
        let client = line.space.client.clone();
        line.drains(true).await;
        redis.assert_nothing_left(&client).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_slot_that_moves_takes_those_who_watch_along() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        let namespace = &on_node(&cluster, 0).await[0];
        let here = TestNamespace::create_as(redis.client().await, namespace, 5).await;
        let there = here.through(redis.client().await);
        let lease = there.lease().await;
        let mut looker = Watcher::at(&here);
        looker.state().await;
        let slot = cluster.slot(&format!("{{{namespace}}}")).await;
        cluster.begin_to_move(slot, 0, 1).await;
        while cluster.move_keys(slot, 0, 1, 100).await > 0 {}
        cluster.end_to_move(slot, 1).await;
        there.take(&lease, 1).await;
        looker.until(|state| state.active_holds == 1).await;
        // By now it listens at the new master: the rest comes by messages.
        let channel = format!("{}:{{{namespace}}}:watch:{}", redis.prefix(), here.name());
        eventually("the new master is listened to", REPLACED_WITHIN, async || {
            let master = &cluster.node(1).raw;
            let (_, count): (String, i64) = master.run(&["PUBSUB", "NUMSUB", &channel]).await;
            (count == 1).then_some(())
        })
        .await;
        there.release(&lease).await;
        looker.until(|state| state.active_holds == 0).await;
        drop(looker);
        redis.assert_nothing_left(&here.client).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_lease_holds_fifty_semaphores_and_its_end_frees_all() {
        let cluster = Cluster::start().await;
        let redis = cluster.redis().await;
        let here = TestNamespace::create(redis.client().await, 1).await;
        let there = here.through(redis.client().await);
        let (lease, waiting) = (here.lease().await, here.lease().await);
        let names: Vec<String> = (0..50).map(|number| format!("s-{number}")).collect();
        for name in &names {
            here.semaphore(name, 1).await;
        }
        let all = |space: &TestNamespace, lease: &str, timeout: i64| {
            let (space, lease) = (space.clone(), lease.to_owned());
            futures_util::future::join_all(names.iter().map(move |name| {
                let (space, lease, name) = (space.clone(), lease.clone(), name.clone());
                async move { space.acquire_on(&name, &lease, 1, timeout).await.unwrap().outcome }
            }))
        };
        assert_eq!(all(&here, &lease, 0).await, [AcquireOutcome::Acquired; 50]);
        let waiters = tokio::spawn(all(&there, &waiting, grackle_test_support::LONG));
        for name in &names {
            let what = format!("{name} is waited for");
            eventually(&what, REPLACED_WITHIN, async || {
                (here.state_of(name).await.waiting_count == 1).then_some(())
            })
            .await;
        }
        here.revoke(&lease).await;
        let granted = tokio::time::timeout(REPLACED_WITHIN, waiters).await.unwrap().unwrap();
        assert_eq!(granted, [AcquireOutcome::Acquired; 50]);
        redis.assert_nothing_left(&here.client).await;
    }

    #[tokio::test]
    async fn a_dead_server_in_the_url_does_not_keep_a_client_away() {
        let cluster = Cluster::start().await;
        let url = cluster.url().replace("redis+cluster://", "redis+cluster://127.0.0.1:1,");
        let redis = cluster.redis_at(url).await;
        core_suite(&redis).await;
    }

    /// Some names of namespaces whose slots that node has.
    async fn on_node(cluster: &Cluster, node: usize) -> Vec<String> {
        let mut names = Vec::new();
        for number in 0..100 {
            let name = format!("ns-{number}");
            if cluster.owner(&format!("{{{name}}}")).await == node {
                names.push(name);
            }
        }
        names
    }

    /// No script broke off half-way: what is counted is there.
    async fn counts_are_records(
        redis: &TestRedis,
        master: &PlainConnection,
        space: &TestNamespace,
    ) {
        for name in [TestNamespace::SEMAPHORE, "busy"] {
            let state = space.state_of(name).await;
            let key = format!("{}:{{{}}}:semaphore:{name}", redis.prefix(), space.namespace);
            let holders: i64 = master.run(&["ZCARD", &format!("{key}:holders")]).await;
            let queue: i64 = master.run(&["ZCARD", &format!("{key}:queue")]).await;
            let weights: i64 = master.run(&["ZCARD", &format!("{key}:weights")]).await;
            assert_eq!((state.active_holds, state.active_holders_count), (holders, holders));
            assert_eq!((state.waiting_count, weights), (queue, queue), "{name}");
        }
    }
}
