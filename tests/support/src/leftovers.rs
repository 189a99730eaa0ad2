//! What a test leaves under its prefix.

use std::time::Duration;

use grackle_client::wire::{
    DeleteNamespaceRequest, Lease, ListNamespacesRequest, ListSemaphoreLeasesRequest,
    ListSemaphoresRequest, RevokeSemaphoreLeaseRequest, Semaphore,
};
use grackle_client::{Client, Error};
use tokio::time::{Instant, sleep};

use super::test_redis::TestRedis;

const MOST: i64 = 250;
/// A node may still be about to say that nobody waits through it any more.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);
const EVERY: Duration = Duration::from_millis(10);

pub(crate) async fn assert_none(redis: &TestRedis, client: &Client) {
    let namespaces = namespaces(client).await;
    let mut expected = vec![format!("{}:namespaces", redis.prefix())];
    for namespace in &namespaces {
        end_leases(client, namespace).await;
        expected.extend(records(redis, client, namespace).await);
    }
    remove_clocks(redis).await;
    forget_calls(redis, &expected).await;
    assert_only(redis, &expected).await;
    for namespace_name in namespaces {
        let request = DeleteNamespaceRequest { namespace_name };
        client.delete_namespace(request).await.expect("a namespace can be deleted");
    }
    assert_only(redis, &[]).await;
}

async fn end_leases(client: &Client, namespace: &str) {
    loop {
        let leases = some_leases(client, namespace).await;
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            end_lease(client, namespace, lease.lease_id).await;
        }
    }
}

async fn some_leases(client: &Client, namespace: &str) -> Vec<Lease> {
    let request = ListSemaphoreLeasesRequest {
        namespace_name: namespace.to_owned(),
        limit: MOST,
        ..Default::default()
    };
    client.list_semaphore_leases(request).await.expect("leases can be listed").leases
}

async fn end_lease(client: &Client, namespace: &str, lease_id: String) {
    let request = RevokeSemaphoreLeaseRequest { namespace_name: namespace.to_owned(), lease_id };
    match client.revoke_semaphore_lease(request).await {
        Ok(_) | Err(Error::LeaseNotFound) => {}
        Err(error) => panic!("a lease can't be revoked: {error}"),
    }
}

/// The keys that a namespace without leases has.
async fn records(redis: &TestRedis, client: &Client, namespace: &str) -> Vec<String> {
    let record = format!("{}:{{{namespace}}}", redis.prefix());
    let semaphores = semaphores(client, namespace).await;
    semaphores.iter().for_each(assert_idle);
    let names = semaphores.iter().map(|semaphore| format!("{record}:semaphore:{}", semaphore.name));
    [record.clone(), format!("{record}:semaphores")].into_iter().chain(names).collect()
}

fn assert_idle(semaphore: &Semaphore) {
    let Semaphore { active_holds, active_holders_count, waiting_count, waiting_weight, .. } =
        semaphore;
    let counts = [active_holds, active_holders_count, waiting_count, waiting_weight];
    assert_eq!(counts, [&0; 4], "held or waited for though every lease has ended: {semaphore:?}");
}

async fn remove_clocks(redis: &TestRedis) {
    for key in redis.keys_left().await.iter().filter(|key| key.ends_with("}:clock")) {
        let _: () = redis.run(&["DEL", key]).await;
    }
}

/// What is remembered of ups and downs on semaphores that are there goes by itself, in ten minutes.
async fn forget_calls(redis: &TestRedis, records: &[String]) {
    for record in records {
        let Some((namespace, name)) = record.split_once("}:semaphore:") else { continue };
        let _: i64 = redis.run_where_it_is(&["DEL", &format!("{record}:calls")]).await;
        let due = format!("{namespace}}}:due");
        let _: i64 = redis.run_where_it_is(&["ZREM", &due, &format!("calls {name}")]).await;
    }
}

async fn assert_only(redis: &TestRedis, expected: &[String]) {
    let deadline = Instant::now() + SETTLES_WITHIN;
    loop {
        let mut surplus = redis.keys_left().await;
        surplus.retain(|key| !expected.contains(key));
        if surplus.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "keys left behind: {surplus:#?}");
        sleep(EVERY).await;
    }
}

async fn namespaces(client: &Client) -> Vec<String> {
    let mut request = ListNamespacesRequest { limit: MOST, ..Default::default() };
    let mut names = Vec::new();
    loop {
        let page = client.list_namespaces(request.clone()).await.expect("namespaces can be listed");
        names.extend(page.namespaces.into_iter().map(|namespace| namespace.name));
        request.pagination_token = page.page.next_pagination_token;
        if request.pagination_token.is_empty() {
            return names;
        }
    }
}

async fn semaphores(client: &Client, namespace: &str) -> Vec<Semaphore> {
    let namespace_name = namespace.to_owned();
    let mut request = ListSemaphoresRequest { namespace_name, limit: MOST, ..Default::default() };
    let mut semaphores = Vec::new();
    loop {
        let page = client.list_semaphores(request.clone()).await.expect("semaphores can be listed");
        semaphores.extend(page.semaphores);
        request.pagination_token = page.page.next_pagination_token;
        if request.pagination_token.is_empty() {
            return semaphores;
        }
    }
}
