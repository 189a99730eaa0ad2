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

/// `part "name"` stands before the script; `engine [ … ]` and `explanation [ … ]` wrap parts into
/// functions that make them when they are called.
macro_rules! joined {
    ($clock:literal, $name:ident, [$($part:literal)*]
     $(engine [$($inner:literal)*])? $(explanation [$($why:literal)*])?) => {
        concat!(
            part!($clock), part!("keys"), $(part!($part),)*
            $("local function engine()\n", $(part!($inner),)* part!("engine"), "end\n",)?
            $("local function explanation()\n", $(part!($why),)* part!("explanation"), "end\n",)?
            include_str!(concat!("../../lua/", stringify!($name), ".lua")),
        )
    };
}

macro_rules! scripts {
    ($($name:ident: [$($part:literal)*]
       $(engine [$($inner:literal)*])? $(explanation [$($why:literal)*])?;)*) => {
        pub(super) struct Table { $(pub(super) $name: Entry,)* }

        impl Table {
            pub(super) fn new(test_clock: bool, cluster: bool) -> Self {
                let first = if cluster { part!("cluster") } else { "" };
                Self { $($name: {
                    let code = if test_clock {
                        joined!("test_clock", $name, [$($part)*]
                            $(engine [$($inner)*])? $(explanation [$($why)*])?)
                    } else {
                        joined!("clock", $name, [$($part)*]
                            $(engine [$($inner)*])? $(explanation [$($why)*])?)
                    };
                    let source = include_str!(concat!("../../lua/", stringify!($name), ".lua"));
                    Entry { name: stringify!($name), source, script: Script::new(&format!("{first}{code}")) }
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
    check: [];
    create_namespace: ["more_keys" "namespace" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "clear"];
    get_namespace: ["namespace"];
    update_namespace: ["namespace"];
    delete_namespace: ["more_keys" "namespace" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "clear"];
    list_namespaces: ["rank" "page"];
    create_semaphore: ["more_keys" "about" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off"];
    get_semaphore: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    update_semaphore: ["more_keys" "about" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    delete_semaphore: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off"];
    list_semaphores: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "rank" "page"];
    list_semaphore_holders: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "holder" "rank" "page"];
    list_semaphore_waiters: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "waiter" "rank" "page"];
    get_semaphore_waiter: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "waiter" "holder" "rank" "waiting"];
    acquire: ["first" "semaphore" "hold"] engine ["more_keys" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"]
        explanation ["drain" "holder" "rank" "waiting"];
    resume: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    give_up: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "holder" "rank" "waiting"];
    confirm: ["hold" "claim"];
    cancel: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off"];
    set_aside: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    release: ["first" "semaphore" "hold"] engine ["more_keys" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    down: ["first" "about" "semaphore" "hold" "ownerless"] engine ["more_keys" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    up: ["first" "spare" "about" "semaphore" "hold" "ownerless"] engine ["more_keys" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    disown: ["more_keys" "spare" "about" "semaphore" "hold" "ownerless" "record" "flow" "discipline" "wait" "drain" "hand_off" "sweep"];
    keep_leases: ["spare"];
    create_lease: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "lease"];
    get_lease: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "lease"];
    refresh_lease: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "lease"];
    revoke_lease: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    list_leases: ["more_keys" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep" "lease" "rank" "page"];
    sweep: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
    watch: ["more_keys" "spare" "semaphore" "hold" "record" "flow" "discipline" "wait" "claim" "drain" "hand_off" "sweep"];
}

#[cfg(test)]
mod tests {
    use super::{Entry, Table};

    /// The lines of a header's comment that name an argument: `ARGV[3] weight`.
    fn named(entry: &Entry, list: &str) -> Vec<String> {
        let (header, _) = entry.source.split_once("]]").unwrap();
        let lines = header.lines().map(str::trim);
        lines.filter_map(|line| line.strip_prefix(list)).map(str::to_owned).collect()
    }

    fn body(entry: &Entry) -> &str {
        entry.source.split_once("]]").unwrap().1
    }

    #[test]
    fn every_header_begins_with_the_name_of_its_script() {
        for entry in Table::new(false, false).entries() {
            let first = entry.source.lines().nth(1).unwrap().trim();
            assert!(first.starts_with(&format!("{}: ", entry.name)), "{}: {first}", entry.name);
        }
    }

    #[test]
    fn a_body_reads_just_the_arguments_of_its_header_in_their_order() {
        for entry in Table::new(false, false).entries() {
            let arguments = named(entry, "ARGV[");
            let single: Vec<_> = arguments.iter().filter(|name| !name.starts_with('…')).collect();
            for (index, name) in single.iter().enumerate() {
                let number = index + 1;
                assert!(name.starts_with(&format!("{number}]")), "{}: {name}", entry.name);
                let read = format!("ARGV[{number}]");
                assert_eq!(body(entry).matches(&read).count(), 1, "{} {read}", entry.name);
            }
            let all = body(entry).matches("ARGV").count();
            assert_eq!(all, arguments.len(), "{} reads more than its header says", entry.name);
        }
    }

    #[test]
    fn calls_are_remembered_as_long_as_the_client_believes() {
        let lua = include_str!("../../lua/shared/ownerless.lua");
        let micros = super::super::REMEMBERED_FOR.as_micros();
        assert!(lua.contains(&format!("local REMEMBERED_FOR = {micros}\n")));
    }

    /// Every command that a Lua file calls.
    fn commands(file: &std::path::Path) -> std::collections::BTreeSet<String> {
        let text = std::fs::read_to_string(file).unwrap();
        let calls = text.split("redis.call('").chain(text.split("redis.pcall('")).skip(1);
        calls
            .filter_map(|call| Some(call.split_once('\'')?.0.to_owned()))
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_uppercase()))
            .collect()
    }

    #[test]
    fn what_the_scripts_do_is_tried_before_anything_is_written() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/lua"));
        let tried = [folder.join("check.lua"), folder.join("shared/clock.lua")];
        let tried: Vec<_> = tried.iter().flat_map(|file| commands(file)).collect();
        let files = [folder.to_owned(), folder.join("shared")];
        let files = files.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let (mut seen, mut missing) = (0, Vec::new());
        for file in files.map(|entry| entry.unwrap().path()) {
            let is_lua = file.extension().is_some_and(|extension| extension == "lua");
            if is_lua && !file.ends_with("test_clock.lua") {
                let new = commands(&file).into_iter().filter(|name| !tried.contains(name));
                missing.extend(new.map(|name| format!("{} calls {name}", file.display())));
                seen += 1;
            }
        }
        assert!(seen > 40 && missing.is_empty(), "{seen} files: {missing:?}");
    }

    #[test]
    fn every_outcome_that_a_body_writes_is_listed_and_no_other() {
        for entry in Table::new(false, false).entries() {
            let (header, body) = entry.source.split_once("]]").unwrap();
            for outcome in ["again", "unavailable", "waiting", "timed_out", "released", "done"] {
                let written = match outcome {
                    "again" => body.contains("AGAIN"),
                    _ => [format!("'{outcome}'"), format!("\"result\":\"{outcome}\"")]
                        .iter()
                        .any(|text| body.contains(text)),
                };
                let listed = header.contains(&format!("{{\"result\":\"{outcome}\""));
                assert_eq!(written, listed, "{}: {outcome}", entry.name);
            }
        }
    }
}
