//! Every script, joined from the shared parts and its own file.

use deadpool_redis::redis::Script;

/// A script and what its header promises of its arguments.
pub(super) struct Entry {
    #[cfg_attr(not(test), expect(dead_code, reason = "the contract test reads it"))]
    pub(super) name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the contract test reads it"))]
    pub(super) source: &'static str,
    pub(super) script: Script,
}

macro_rules! part {
    ($part:literal) => {
        concat!(include_str!(concat!("../../lua/shared/", $part, ".lua")), "\n")
    };
}

macro_rules! scripts {
    ($($name:ident: $($part:literal)*;)*) => {
        pub(super) struct Table { $(pub(super) $name: Entry,)* }

        impl Table {
            pub(super) fn new(test_clock: bool) -> Self {
                Self { $($name: {
                    let source = include_str!(concat!("../../lua/", stringify!($name), ".lua"));
                    let code = if test_clock {
                        concat!(part!("test_clock"), part!("keys"), $(part!($part),)*
                            include_str!(concat!("../../lua/", stringify!($name), ".lua")))
                    } else {
                        concat!(part!("clock"), part!("keys"), $(part!($part),)*
                            include_str!(concat!("../../lua/", stringify!($name), ".lua")))
                    };
                    Entry { name: stringify!($name), source, script: Script::new(code) }
                },)* }
            }

            #[cfg(test)]
            pub(super) fn entries(&self) -> Vec<&Entry> {
                vec![$(&self.$name,)*]
            }
        }
    };
}

scripts! {
    create_namespace: "namespace" "semaphore" "hold" "wait" "hand_off" "sweep" "clear";
    get_namespace: "namespace";
    update_namespace: "namespace";
    delete_namespace: "namespace" "semaphore" "hold" "wait" "hand_off" "sweep" "clear";
    list_namespaces: "page";
    create_semaphore: "semaphore" "hold" "wait" "hand_off";
    get_semaphore: "semaphore" "hold" "wait" "hand_off" "sweep";
    update_semaphore: "semaphore" "hold" "wait" "hand_off" "sweep";
    delete_semaphore: "semaphore" "hold" "wait" "hand_off";
    list_semaphores: "semaphore" "hold" "wait" "hand_off" "sweep" "page";
    list_semaphore_holders: "semaphore" "hold" "wait" "hand_off" "sweep" "page";
    acquire: "semaphore" "hold" "claim" "wait" "hand_off" "sweep" "lease";
    resume: "semaphore" "hold" "claim" "wait" "hand_off" "sweep";
    give_up: "semaphore" "hold" "claim" "wait" "hand_off" "sweep";
    cancel: "semaphore" "hold" "claim" "wait" "hand_off";
    set_aside: "semaphore" "hold" "claim" "wait" "hand_off";
    release: "semaphore" "hold" "wait" "hand_off" "sweep";
    create_lease: "semaphore" "hold" "wait" "hand_off" "sweep" "lease";
    get_lease: "semaphore" "hold" "wait" "hand_off" "sweep" "lease";
    refresh_lease: "semaphore" "hold" "wait" "hand_off" "sweep" "lease";
    revoke_lease: "semaphore" "hold" "wait" "hand_off" "sweep";
    list_leases: "semaphore" "hold" "wait" "hand_off" "sweep" "lease" "page";
    sweep: "semaphore" "hold" "wait" "hand_off" "sweep";
}
