//! Every script: its own file, behind the shared parts that it needs.

use deadpool_redis::redis::Script;

/// A script, and the parts of which it is made.
pub(super) struct Entry {
    #[cfg_attr(not(test), expect(dead_code, reason = "the contract tests read it"))]
    pub(super) name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the contract tests read it"))]
    pub(super) parts: Vec<&'static str>,
    pub(super) script: Script,
}

/// How the scripts differ between clients.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Variant {
    /// Reads the time from a key that tests set.
    pub(super) test_clock: bool,
    /// Checks that the slot of the namespace is not moving.
    pub(super) cluster: bool,
}

impl Variant {
    /// The parts before all others.
    fn first(self) -> Vec<&'static str> {
        let clock = if self.test_clock { "test_clock" } else { "clock" };
        let migration = self.cluster.then_some("slot_migration");
        migration.into_iter().chain([clock, "keys"]).collect()
    }
}

/// Records: the semaphore's and the holds.
const RECORDS: &[&str] = &["semaphore", "hold"];
/// The queue: waits, their places, and the hand-off.
const QUEUE: &[&str] = &[
    "queue_keys",
    "wait_record",
    "flow",
    "discipline",
    "wait_updates",
    "hold_tickets",
    "claim_hold",
    "drain_rate",
    "hand_off",
];
/// Sweeping, before anything else is done.
const SWEEP: &[&str] = &["sweep", "sweep_first"];
/// The same, in scripts that only read.
const SWEEP_BEFORE_READ: &[&str] = &["sweep", "sweep_before_read"];
/// The queue, made only where the script calls `queue()`.
const QUEUE_ON_DEMAND: &[&str] = &["queue on demand"];
/// Why a call waits.
const EXPLAIN: &[&str] = &["holder_json", "rank", "explain"];
/// The same, made only where the script calls `explain()`.
const EXPLAIN_ON_DEMAND: &[&str] = &["explain on demand"];
const PAGE: &[&str] = &["rank", "page"];
const NAMESPACE: &[&str] = &["require_namespace"];
/// For scripts that must run where Redis has no memory left.
const WHEN_MEMORY_FULL: &[&str] = &["when_memory_full"];

macro_rules! scripts {
    ($($name:ident: [$($parts:expr),*];)*) => {
        pub(super) struct Table { $(pub(super) $name: Entry,)* }

        impl Table {
            pub(super) fn new(variant: Variant) -> Self {
                Self { $($name: Entry::new(stringify!($name), variant, &[$($parts),*]),)* }
            }

            #[cfg(test)]
            pub(super) fn entries(&self) -> Vec<&Entry> {
                vec![$(&self.$name,)*]
            }
        }

        /// The file of a script.
        pub(super) fn source(name: &str) -> &'static str {
            match name {
                $(stringify!($name) => {
                    include_str!(concat!("../../lua/", stringify!($name), ".lua"))
                })*
                // Only the names above are asked for.
                _ => "",
            }
        }
    };
}

scripts! {
    check_rights: [];
    create_namespace: [RECORDS, QUEUE, &["namespace_json", "sweep", "clear_namespace"]];
    get_namespace: [NAMESPACE, &["namespace_json"]];
    update_namespace: [&["namespace_json"]];
    delete_namespace: [RECORDS, QUEUE, &["sweep", "clear_namespace"]];
    list_namespaces: [PAGE];
    create_semaphore: [NAMESPACE, RECORDS, QUEUE, &["details"]];
    get_semaphore: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ];
    update_semaphore: [NAMESPACE, RECORDS, QUEUE, SWEEP, &["details"]];
    delete_semaphore: [NAMESPACE, RECORDS, QUEUE];
    list_semaphores: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ, PAGE];
    list_semaphore_holders: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ, &["holder_json"], PAGE];
    list_semaphore_waiters: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ, &["waiter_json"], PAGE];
    get_semaphore_waiter: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ, &["waiter_json"], EXPLAIN];
    acquire: [NAMESPACE, RECORDS, QUEUE_ON_DEMAND, EXPLAIN_ON_DEMAND, &["sweep_if_lease_due"]];
    resume: [NAMESPACE, RECORDS, QUEUE, SWEEP];
    time_out: [NAMESPACE, WHEN_MEMORY_FULL, RECORDS, QUEUE, SWEEP, EXPLAIN];
    touch_holds: [WHEN_MEMORY_FULL, &["hold_tickets"]];
    cancel: [WHEN_MEMORY_FULL, RECORDS, QUEUE];
    park: [WHEN_MEMORY_FULL, RECORDS, QUEUE, SWEEP];
    release: [NAMESPACE, RECORDS, QUEUE_ON_DEMAND, &["sweep_if_lease_due"]];
    down: [NAMESPACE, RECORDS, &["details", "ownerless_hold"], QUEUE_ON_DEMAND, &["sweep_if_lease_due"]];
    up: [NAMESPACE, WHEN_MEMORY_FULL, RECORDS, &["details", "ownerless_hold"], QUEUE_ON_DEMAND,
        &["sweep_if_lease_due"]];
    disown: [NAMESPACE, WHEN_MEMORY_FULL, RECORDS, QUEUE, SWEEP, &["details", "ownerless_hold"]];
    refresh_proxy_leases: [WHEN_MEMORY_FULL];
    create_lease: [NAMESPACE, RECORDS, QUEUE, SWEEP, &["lease_json", "announce_expiry"]];
    get_lease: [NAMESPACE, &["own_lease", "lease_json"]];
    refresh_lease: [NAMESPACE, WHEN_MEMORY_FULL, &["own_lease", "lease_json", "announce_expiry"]];
    revoke_lease: [NAMESPACE, WHEN_MEMORY_FULL, RECORDS, QUEUE, &["sweep"]];
    list_leases: [NAMESPACE, RECORDS, QUEUE, SWEEP_BEFORE_READ, &["lease_json"], PAGE];
    sweep: [WHEN_MEMORY_FULL, RECORDS, QUEUE, SWEEP];
    watch: [NAMESPACE, WHEN_MEMORY_FULL, RECORDS, QUEUE, SWEEP];
}

impl Entry {
    fn new(name: &'static str, variant: Variant, groups: &[&[&'static str]]) -> Self {
        let parts: Vec<_> = variant
            .first()
            .into_iter()
            .chain(groups.concat().into_iter().flat_map(expanded))
            .collect();
        let code: String = parts.iter().map(|part| code_of(part)).collect();
        Self { name, parts, script: Script::new(&(code + source(name))) }
    }
}

/// The parts behind a name: those made on demand stand between lines that make a function of them.
fn expanded(part: &'static str) -> Vec<&'static str> {
    match part {
        "queue on demand" => {
            [&["begin queue"], QUEUE, &["sweep", "queue_exports", "end queue"]].concat()
        }
        "explain on demand" => {
            let end = ["return explanation_json", "end explain"];
            [&["begin explain", "drain_rate"], EXPLAIN, &end].concat()
        }
        part => vec![part],
    }
}

/// The Lua of a part: a file, or a line around those that are made when they are called.
fn code_of(part: &str) -> String {
    match part.split_once(' ') {
        // Made once, with one budget.
        Some(("begin", name)) => format!("local {name}_made\nlocal function make_{name}()\n"),
        Some(("end", name)) => format!(
            "end\nlocal function {name}()\n  {name}_made = {name}_made or make_{name}()\n  \
             return {name}_made\nend\n"
        ),
        Some(_) => format!("{part}\n"),
        None => format!("{}\n", file_of(part)),
    }
}

macro_rules! files {
    ($($name:literal)*) => {
        /// The file of a part.
        pub(super) fn file_of(part: &str) -> &'static str {
            match part {
                $($name => include_str!(concat!("../../lua/shared/", $name, ".lua")),)*
                // Only the names above stand in the lists; a test looks for each file.
                _ => "",
            }
        }

        #[cfg(test)]
        pub(super) const FILES: &[&str] = &[$($name),*];
    };
}

files! {
    "announce_expiry" "hold_tickets" "claim_hold" "clear_namespace" "clock" "details" "discipline" "drain_rate" "explain"
    "flow" "hand_off" "hold" "holder_json" "keys" "lease_json" "namespace_json" "own_lease" "ownerless_hold" "page"
    "queue_exports" "queue_keys" "rank" "require_namespace" "semaphore" "slot_migration" "sweep"
    "sweep_before_read" "sweep_first" "sweep_if_lease_due" "test_clock" "wait_updates" "wait_record" "waiter_json" "when_memory_full"
}
