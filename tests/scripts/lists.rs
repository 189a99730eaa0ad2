//! Pages of every list, both ways, whatever becomes of the entries meanwhile.

use grackle_client::scripts::{AcquireArguments, Call, Edge, PageReply, PageStart};
use grackle_client::wire::{
    ListNamespacesRequest, ListSemaphoreHoldersRequest, ListSemaphoreLeasesRequest,
    ListSemaphoreWaitersRequest, ListSemaphoresRequest, Metadata,
};
use grackle_client::{Client, Error};
use grackle_test_support::TestRedis;
use grackle_test_support::script_world::{DAY, NS, SEM, World, lease_id, wanted};

#[derive(Debug, Clone, Copy)]
enum List {
    Namespaces,
    Semaphores,
    Holders,
    Waiters,
    Leases,
    OfProcess,
}

use List::{Holders, Leases, Namespaces, OfProcess, Semaphores, Waiters};

const ALL: [List; 6] = [Namespaces, Semaphores, Holders, Waiters, Leases, OfProcess];

const PERMITS: i64 = 1_000_000;

impl List {
    /// A world with that many entries in the list, and the entries in their order.
    async fn of(self, count: usize) -> (World, Vec<String>) {
        let w = World::of(PERMITS).await;
        let entries = self.fill(&w, count).await;
        (w, entries)
    }

    async fn fill(self, w: &World, count: usize) -> Vec<String> {
        self.prepare(w).await;
        let names: Vec<_> = (0..count).map(|number| format!("e{number:03}")).collect();
        let mut entries = Vec::new();
        for name in &names {
            entries.push(self.add(w, name).await);
        }
        w.check().await;
        // Beside those made here.
        match self {
            Namespaces => entries.push(NS.to_owned()),
            Semaphores => entries.push(SEM.to_owned()),
            _ => {}
        }
        entries
    }

    /// Waiters need somebody for whom they wait, and a node that listens.
    async fn prepare(self, w: &World) {
        if let Waiters = self {
            // It is to listen for as long as the test runs.
            let node = Box::leak(Box::new(w.node("n").await));
            w.leases("h").await;
            w.take(&node.call("h"), 1).await;
        }
    }

    async fn add(self, w: &World, name: &str) -> String {
        let (id, none) = (lease_id(name), Metadata::new());
        match self {
            Namespaces => drop(w.scripts.create_namespace(name, name, "", &none).await.unwrap()),
            Semaphores => {
                drop(w.scripts.create_semaphore(name, NS, name, 1, "", &none).await.unwrap());
            }
            Holders | Waiters | Leases | OfProcess => {
                w.scripts.create_lease(NS, &id, "p", DAY, &none).await.unwrap();
            }
        }
        match self {
            Namespaces | Semaphores => return name.to_owned(),
            Leases => {}
            Holders => {
                drop(w.scripts.acquire(NS, &call(&id), wanted(1)).await.unwrap());
            }
            Waiters => {
                // Every third is parked.
                let listening = !name.ends_with(['2', '5', '8']);
                let all = AcquireArguments { listening, ..wanted(PERMITS) };
                drop(w.scripts.acquire(NS, &call(&id), all).await.unwrap());
            }
            // Each of the process has one of another beside it.
            OfProcess => {
                let other = lease_id(&format!("{name}other"));
                w.scripts.create_lease(NS, &other, "q", DAY, &none).await.unwrap();
            }
        }
        id
    }

    async fn remove(self, w: &World, entry: &str) {
        match self {
            Namespaces => w.scripts.delete_namespace(entry).await.unwrap(),
            Semaphores => drop(w.scripts.delete_semaphore(NS, entry).await.unwrap()),
            Holders => drop(w.scripts.release(NS, SEM, entry).await.unwrap()),
            Waiters => w.scripts.cancel(NS, &call(entry)).await.unwrap(),
            Leases | OfProcess => w.scripts.revoke_lease(NS, entry).await.unwrap(),
        }
    }

    async fn page(self, w: &World, from: &PageStart, limit: i64) -> PageReply<String> {
        fn names<T>(page: PageReply<T>, name: impl Fn(T) -> String) -> PageReply<String> {
            let entries = page.entries.into_iter().map(name).collect();
            PageReply { entries, order: page.order, before: page.before, after: page.after }
        }
        let page = match self {
            Namespaces => {
                names(w.scripts.list_namespaces(from, limit).await.unwrap(), |entry| entry.name)
            }
            Semaphores => {
                names(w.scripts.list_semaphores(NS, from, limit).await.unwrap(), |entry| entry.name)
            }
            Holders => {
                let page = w.scripts.list_semaphore_holders(NS, SEM, from, limit).await;
                names(page.unwrap(), |entry| entry.lease_id)
            }
            Waiters => {
                let page = w.scripts.list_semaphore_waiters(NS, SEM, from, limit, "").await;
                names(page.unwrap(), |entry| entry.lease_id)
            }
            Leases => {
                let page = w.scripts.list_leases(NS, "", from, limit).await;
                names(page.unwrap(), |entry| entry.lease_id)
            }
            OfProcess => {
                let page = w.scripts.list_leases(NS, "p", from, limit).await;
                names(page.unwrap(), |entry| entry.lease_id)
            }
        };
        w.check().await;
        page
    }

    /// All pages, from the first on.
    async fn forward(self, w: &World, limit: i64) -> Vec<PageReply<String>> {
        let mut pages = vec![self.page(w, &PageStart::First, limit).await];
        while let Some(after) = pages.last().unwrap().after.clone() {
            pages.push(self.page(w, &PageStart::After(after), limit).await);
        }
        pages
    }
}

/// The call of a lease, by whatever ticket.
fn call(lease_id: &str) -> Call {
    let ticket = format!("n:{}", lease_id.trim_start_matches("ls_"));
    Call { lease_id: lease_id.to_owned(), semaphore: SEM.to_owned(), ticket }
}

fn edge(score: &str, name: &str) -> Edge {
    Edge(score.to_owned(), name.to_owned())
}

fn entries(pages: &[PageReply<String>]) -> Vec<String> {
    pages.iter().flat_map(|page| page.entries.clone()).collect()
}

#[tokio::test]
async fn pages_show_every_entry_once_and_in_order_both_ways() {
    for list in ALL {
        let (w, all) = list.of(23).await;
        let total = i64::try_from(all.len()).unwrap();
        for limit in [1, 7, total - 1, total, total + 1, 250] {
            let pages = list.forward(&w, limit).await;
            assert_eq!(entries(&pages), all, "{list:?} by {limit}");
            let full = |page: &PageReply<String>| page.entries.len() as i64 == limit;
            assert!(pages[..pages.len() - 1].iter().all(full), "{list:?} by {limit}");
            let found = &pages[0].before;
            assert!(found.is_none(), "{found:?}");
            for pair in pages.windows(2) {
                let before = PageStart::Before(pair[1].before.clone().unwrap());
                let page = list.page(&w, &before, limit).await;
                assert_eq!(page.entries, pair[0].entries, "{list:?} by {limit}, back");
                assert_eq!((&page.before, &page.after), (&pair[0].before, &pair[0].after));
            }
        }
        w.end().await;
    }
}

#[tokio::test]
async fn entries_of_one_score_are_paged_by_name() {
    // 300 at one instant, or of score 0.
    for list in ALL {
        let (w, all) = list.of(300).await;
        let pages = list.forward(&w, 100).await;
        assert_eq!(entries(&pages), all, "{list:?}");
        let last = pages.last().unwrap().before.clone().unwrap();
        let page = list.page(&w, &PageStart::Before(last), 250).await;
        let end = all.len() - pages.last().unwrap().entries.len();
        assert_eq!(page.entries, all[end.saturating_sub(250)..end], "{list:?}");
        w.end().await;
    }
}

#[tokio::test]
async fn entries_of_different_times_are_paged_by_time() {
    for list in [Holders, Waiters, Leases, OfProcess] {
        let w = World::of(PERMITS).await;
        list.prepare(&w).await;
        let mut all = Vec::new();
        for number in (0..9).rev() {
            all.push(list.add(&w, &format!("e{number}")).await);
            w.advance(1).await;
        }
        for limit in [1, 2, 4, 9] {
            let pages = list.forward(&w, limit).await;
            let listed = entries(&pages);
            let listed: Vec<_> = listed.iter().filter(|entry| all.contains(entry)).collect();
            assert_eq!(listed, all.iter().collect::<Vec<_>>(), "{list:?} by {limit}");
        }
        w.end().await;
    }
}

#[tokio::test]
async fn a_page_goes_on_where_the_boundary_stood_though_it_is_gone() {
    for list in ALL {
        let (w, all) = list.of(12).await;
        let first = list.page(&w, &PageStart::First, 4).await;
        let after = first.after.clone().unwrap();
        let second = list.page(&w, &PageStart::After(after.clone()), 4).await;
        let before = second.before.clone().unwrap();
        assert_eq!(second.entries, all[4..8]);
        list.remove(&w, &all[3]).await;
        list.remove(&w, &all[4]).await;
        let forward = list.page(&w, &PageStart::After(after), 4).await;
        assert_eq!(forward.entries, all[5..9], "{list:?}");
        let back = list.page(&w, &PageStart::Before(before), 4).await;
        assert_eq!(back.entries, all[..3], "{list:?}");
        assert_eq!(back.before, None);
        let on = list.page(&w, &PageStart::After(back.after.unwrap()), 4).await;
        assert_eq!(on.entries, all[5..9], "{list:?}");
        w.end().await;
    }
}

#[tokio::test]
async fn entries_that_come_and_go_hide_and_repeat_no_other() {
    for list in [Namespaces, Semaphores, Holders, Waiters, Leases] {
        let (w, all) = list.of(10).await;
        let first = list.page(&w, &PageStart::First, 5).await;
        list.remove(&w, &all[0]).await;
        list.remove(&w, &all[7]).await;
        // Before the boundary, and at the very place of one that is gone.
        list.add(&w, "e0000").await;
        list.add(&w, "e007").await;
        let second = list.page(&w, &PageStart::After(first.after.unwrap()), 250).await;
        assert!(second.entries.iter().all(|entry| !first.entries.contains(entry)), "{list:?}");
        for entry in &all[5..10] {
            assert!(second.entries.contains(entry), "{list:?}: {entry}");
        }
        w.end().await;
    }
}

#[tokio::test]
async fn a_list_whose_rest_is_gone_ends_with_an_empty_page() {
    for list in ALL {
        let (w, all) = list.of(6).await;
        let first = list.page(&w, &PageStart::First, 3).await;
        for entry in all[3..].iter().filter(|entry| *entry != NS) {
            list.remove(&w, entry).await;
        }
        let rest = list.page(&w, &PageStart::After(first.after.unwrap()), 3).await;
        assert!(rest.entries.iter().all(|entry| entry == NS), "{list:?}: {rest:?}");
        assert_eq!(rest.after, None);
        let far = PageStart::After(edge("1152921504606846976", "zzz"));
        let found = list.page(&w, &far, 3).await.entries;
        assert!(found.is_empty(), "{found:?}");
        let none = PageStart::Before(edge("-1", ""));
        let found = list.page(&w, &none, 3).await.entries;
        assert!(found.is_empty(), "{found:?}");
        w.end().await;
    }
}

/// Reading writes nothing for which Redis would need memory.
#[tokio::test]
async fn a_page_is_read_where_memory_is_full_and_its_boundary_is_gone() {
    let redis = TestRedis::own().await;
    for list in ALL {
        let w = World::with_on(&redis, PERMITS, "").await;
        let all = list.fill(&w, 6).await;
        let first = list.page(&w, &PageStart::First, 3).await;
        list.remove(&w, &all[2]).await;
        let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
        let rest = list.page(&w, &PageStart::After(first.after.unwrap()), 3).await;
        assert_eq!(rest.entries, all[3..6], "{list:?}");
        let back = list.page(&w, &PageStart::Before(rest.before.unwrap()), 3).await;
        assert_eq!(back.entries, all[..2], "{list:?}");
        let _: () = redis.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
        w.end().await;
    }
}

#[tokio::test]
async fn an_empty_list_is_one_empty_page() {
    let w = World::of(1).await;
    for list in [Holders, Waiters, Leases, OfProcess] {
        for from in [PageStart::First, PageStart::After(edge("7", "m"))] {
            let page = list.page(&w, &from, 9).await;
            let found = &page.entries;
            assert!(found.is_empty(), "{found:?}");
            assert_eq!((page.before, page.after), (None, None));
        }
    }
    w.end().await;
}

#[tokio::test]
async fn neither_holders_nor_leases_that_have_expired_are_listed() {
    let (w, all) = Holders.of(4).await;
    w.scripts.refresh_lease(NS, &all[1], DAY * 2).await.unwrap();
    w.advance(86_400).await;
    assert_eq!(Holders.page(&w, &PageStart::First, 9).await.entries, all[1..2]);
    assert_eq!(Leases.page(&w, &PageStart::First, 9).await.entries, all[1..2]);
    w.end().await;
}

/// Asks for a page of one through the client.
async fn ask(client: &Client, list: List, which: &str, token: &str) -> Result<String, Error> {
    let (namespace_name, pagination_token) = (NS.to_owned(), token.to_owned());
    let page = match list {
        Namespaces => {
            let request = ListNamespacesRequest { limit: 1, pagination_token };
            client.list_namespaces(request).await?.page
        }
        Semaphores => {
            let request = ListSemaphoresRequest {
                namespace_name: which.to_owned(),
                limit: 1,
                pagination_token,
            };
            client.list_semaphores(request).await?.page
        }
        Holders => {
            let request = ListSemaphoreHoldersRequest {
                namespace_name,
                semaphore_name: which.to_owned(),
                limit: 1,
                pagination_token,
            };
            client.list_semaphore_holders(request).await?.page
        }
        Waiters => {
            let request = ListSemaphoreWaitersRequest {
                namespace_name,
                semaphore_name: which.to_owned(),
                limit: 1,
                pagination_token,
            };
            client.list_semaphore_waiters(request).await?.page
        }
        Leases | OfProcess => {
            let request = ListSemaphoreLeasesRequest {
                namespace_name,
                process_id: which.to_owned(),
                limit: 1,
                pagination_token,
            };
            client.list_semaphore_leases(request).await?.page
        }
    };
    Ok(page.next_pagination_token)
}

#[tokio::test]
async fn a_token_is_good_for_its_own_list_alone() {
    let (w, _) = Holders.of(3).await;
    w.semaphore("t", 9).await;
    w.scripts.create_namespace("other", "other", "", &Metadata::new()).await.unwrap();
    Semaphores.add(&w, "u").await;
    Waiters.prepare(&w).await;
    Waiters.add(&w, "w1").await;
    Waiters.add(&w, "w2").await;
    let client = w.redis.client_on_test_clock().await;
    // Each has more than a page of one, but the four at the end.
    let lists = [
        (Namespaces, ""),
        (Semaphores, NS),
        (Holders, SEM),
        (Leases, ""),
        (OfProcess, "p"),
        (Waiters, SEM),
        (Semaphores, "other"),
        (Holders, "t"),
        (Waiters, "t"),
        (OfProcess, "q"),
    ];
    for (index, (list, which)) in lists[..6].iter().enumerate() {
        let token = ask(&client, *list, which, "").await.unwrap();
        assert_ne!(token, "", "{list:?}");
        for (other, (another, which)) in lists.iter().enumerate() {
            let reply = ask(&client, *another, which, &token).await;
            if other == index {
                reply.unwrap();
                continue;
            }
            let field = "pagination_token";
            let refused =
                matches!(&reply, Err(Error::InvalidField { field: f, .. }) if *f == field);
            assert!(refused, "a token of {list:?} for {another:?} {which}: {reply:?}");
        }
    }
    for broken in ["x", "%", "e30", "=", "bnVsbA", &"A".repeat(5_000)] {
        let reply = ask(&client, Leases, "", broken).await;
        assert!(matches!(reply, Err(Error::InvalidField { .. })), "{broken}: {reply:?}");
    }
    w.end().await;
}
