//! What each Lua file promises: its header names the script, its arguments, replies and errors, and the
//! parts before it define all that it uses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::table::{Entry, FILES, Table, Variant, file_of, source};

fn entries() -> Table {
    Table::new(Variant::default())
}

fn header(entry: &Entry) -> &'static str {
    source(entry.name).split_once("]]").unwrap().0
}

fn body(entry: &Entry) -> &'static str {
    source(entry.name).split_once("]]").unwrap().1
}

/// The arguments that a header names, as `3] weight`.
fn arguments(entry: &Entry) -> Vec<&'static str> {
    header(entry).lines().filter_map(|line| line.trim().strip_prefix("ARGV[")).collect()
}

/// The parts and the body of a script, as they run.
fn pieces(entry: &Entry) -> Vec<(&'static str, &'static str)> {
    let parts = entry.parts.iter().filter(|part| !part.contains(' '));
    parts.map(|part| (*part, file_of(part))).chain([(entry.name, body(entry))]).collect()
}

/// Code without comments and texts.
fn code(lua: &str) -> String {
    let lines = lua.lines().map(|line| line.split("--").next().unwrap());
    let without_texts = |line: &str| line.split('\'').step_by(2).collect::<Vec<_>>().join("''");
    lines.map(|line| without_texts(line) + "\n").collect()
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == ':');
    code.split(part).filter(|word| word.starts_with(|c: char| c.is_alphabetic()))
}

#[test]
fn every_header_begins_with_the_name_of_its_script() {
    for entry in entries().entries() {
        let first = header(entry).lines().nth(1).unwrap().trim();
        assert!(first.starts_with(&format!("{}: ", entry.name)), "{}: {first}", entry.name);
    }
}

#[test]
fn a_body_reads_just_the_arguments_of_its_header_in_their_order() {
    for entry in entries().entries() {
        let arguments = arguments(entry);
        let single = arguments.iter().filter(|name| !name.starts_with('…'));
        for (index, name) in single.enumerate() {
            let number = index + 1;
            assert!(name.starts_with(&format!("{number}]")), "{}: {name}", entry.name);
            let read = format!("ARGV[{number}]");
            assert_eq!(body(entry).matches(&read).count(), 1, "{} {read}", entry.name);
        }
        let all = body(entry).matches("ARGV").count();
        assert_eq!(all, arguments.len(), "{} reads more than its header names", entry.name);
    }
}

#[test]
fn a_header_lists_the_replies_of_its_script_and_no_others() {
    for entry in entries().entries() {
        let all: String = pieces(entry)
            .iter()
            .filter(|(name, _)| replies_by_itself(name, entry))
            .map(|(_, lua)| *lua)
            .collect();
        for outcome in OUTCOMES {
            let written = match outcome {
                "again" => all.contains("return AGAIN") || all.contains("AGAIN, "),
                "acquired" => all.contains("acquired(s") || all.contains("'acquired'"),
                "page" => all.contains("page_json("),
                _ => {
                    all.contains(&format!("'{outcome}'"))
                        || all.contains(&format!("\"result\":\"{outcome}\""))
                }
            };
            let listed = header(entry).contains(&format!("{{\"result\":\"{outcome}\""))
                || (*outcome == *"acquired"
                    && header(entry).contains("the answer as acquire gives it"))
                || (*outcome == *"acquired"
                    && header(entry).contains("answer as acquire gives it"));
            assert_eq!(written, listed, "{}: {outcome}", entry.name);
        }
    }
}

const OUTCOMES: [&str; 11] = [
    "acquired",
    "unavailable",
    "waiting",
    "timed_out",
    "released",
    "not_held",
    "done",
    "swept",
    "page",
    "ok",
    "again",
];

/// Does the code of this part reply, rather than only define functions? A record's JSON is a reply too,
/// where it is the whole one.
fn replies_by_itself(part: &str, entry: &Entry) -> bool {
    part == entry.name
        || ["sweep_before_read", "sweep_first", "sweep_if_lease_due", "namespace_json"]
            .contains(&part)
}

#[test]
fn a_header_lists_the_errors_of_its_script_and_no_others() {
    for entry in entries().entries() {
        let mut raised = BTreeSet::new();
        for (name, lua) in pieces(entry) {
            if name == entry.name || name == "require_namespace" {
                raised.extend(errors(lua));
            }
        }
        let listed = header(entry).split_once("  Errors  ").map_or("", |(_, list)| list);
        let listed: BTreeSet<_> = listed
            .split('|')
            .flat_map(|part| part.split('\n'))
            .map(|error| error.trim().to_owned())
            .filter(|error| !error.is_empty())
            .collect();
        assert_eq!(raised, listed, "{}", entry.name);
    }
}

/// What `error_reply`, `fail` and the texts of limits raise.
fn errors(lua: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for call in ["redis.error_reply(", "fail("] {
        for (_, rest) in lua.match_indices(call).map(|(at, _)| lua.split_at(at + call.len())) {
            let argument = rest.split(')').next().unwrap();
            if argument.chars().all(|c| c.is_uppercase() || c == '_') {
                found.insert(argument.to_owned());
            }
        }
    }
    let limits = lua.split('\'').filter(|text| text.starts_with("LIMIT "));
    found.extend(limits.map(str::to_owned));
    found
}

/// The names that a part defines for those after it.
fn defines(lua: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in lua.lines().filter_map(|line| line.strip_prefix("local ")) {
        match line.strip_prefix("function ") {
            Some(function) => drop(names.insert(function.split('(').next().unwrap().to_owned())),
            None => {
                let list = line.split('=').next().unwrap().split(',');
                names.extend(list.map(|name| name.trim().to_owned()));
            }
        }
    }
    names
}

#[test]
fn the_parts_before_a_script_define_all_that_it_uses() {
    let all: BTreeMap<&str, BTreeSet<String>> =
        FILES.iter().map(|part| (*part, defines(file_of(part)))).collect();
    for entry in entries().entries() {
        let mut defined: BTreeSet<String> = ["queue", "explain"].map(str::to_owned).into();
        let mut pending = Vec::new();
        for part in &entry.parts {
            // What is made in a function ends with it, but for what that returns.
            match part.split_once(' ') {
                Some(("begin", _)) => pending.push(defined.clone()),
                Some(("end", _)) => defined = pending.pop().unwrap(),
                Some(_) => {}
                None => {
                    assert_defined(entry, part, file_of(part), &defined);
                    defined.extend(all[part].iter().cloned());
                }
            }
        }
        assert_defined(entry, entry.name, body(entry), &defined);
    }
}

fn assert_defined(entry: &Entry, part: &str, lua: &str, defined: &BTreeSet<String>) {
    let code = code(lua);
    let own: BTreeSet<&str> = code.lines().flat_map(bound).collect();
    for word in words(&code) {
        let name = word.split(['.', ':']).next().unwrap();
        let known = LANGUAGE.contains(&name) || own.contains(name) || defined.contains(name);
        assert!(known, "{}: {part} uses {name}, which nothing before it defines", entry.name);
    }
}

/// Keywords of Lua, and what Redis gives each script.
const LANGUAGE: [&str; 35] = [
    "and", "or", "not", "nil", "true", "false", "if", "then", "else", "elseif", "end", "for", "in",
    "do", "while", "repeat", "until", "return", "break", "local", "function", "KEYS", "ARGV",
    "redis", "cjson", "string", "table", "math", "ipairs", "pairs", "tonumber", "tostring", "type",
    "unpack", "select",
];

/// The names that a line binds: locals, parameters, loop variables, keys of tables.
fn bound(line: &str) -> Vec<&str> {
    if ["local ", "function", "for "].iter().any(|word| line.contains(word)) {
        // A closure inside of a call binds its parameters.
        let parameters = line.split("function").skip(1).filter_map(|rest| rest.split(')').next());
        let before = line.split(" = ").next().unwrap();
        return words(before).chain(parameters.flat_map(words)).chain(keys(line)).collect();
    }
    keys(line).collect()
}

fn keys(line: &str) -> impl Iterator<Item = &str> {
    let before = line.split(" = ").map(|text| text.rsplit([' ', '(', '{', ',']).next().unwrap());
    before.filter(|word| !word.is_empty())
}

/// Every command that a Lua file calls.
fn commands(lua: &str) -> BTreeSet<String> {
    let calls = lua.split("redis.call('").chain(lua.split("redis.pcall('")).skip(1);
    calls
        .filter_map(|call| Some(call.split_once('\'')?.0.to_owned()))
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_uppercase()))
        .collect()
}

#[test]
fn check_calls_each_command_that_any_script_calls() {
    let checked = commands(source("check_rights")).into_iter().chain(commands(file_of("clock")));
    let checked: BTreeSet<_> = checked.collect();
    let parts =
        FILES.iter().filter(|part| **part != "test_clock").map(|part| (*part, file_of(part)));
    let table = entries();
    let bodies = table.entries().into_iter().map(|entry| (entry.name, body(entry)));
    for (name, lua) in parts.chain(bodies.collect::<Vec<_>>()) {
        let missing: Vec<_> = commands(lua).difference(&checked).cloned().collect();
        assert!(missing.is_empty(), "{name} calls {missing:?}");
    }
}

fn lua_files(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let lua = files.filter(|path| path.extension().is_some_and(|extension| extension == "lua"));
    lua.map(|path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_file_is_a_script_or_a_part_of_one() {
    let table = entries();
    let names: BTreeSet<_> = table.entries().iter().map(|entry| entry.name.to_owned()).collect();
    assert_eq!(lua_files("."), names);
    let mut used: BTreeSet<String> = ["test_clock", "slot_migration"].map(str::to_owned).into();
    for entry in table.entries() {
        let parts = entry.parts.iter().filter(|part| !part.contains(' '));
        used.extend(parts.map(|part| (*part).to_owned()));
    }
    assert_eq!(lua_files("shared"), used);
}

/// A constant that Lua and Rust both have is the same in both.
#[test]
fn lua_and_rust_agree_on_their_constants() {
    let constant = |part: &str, lua: &str, name: &str| {
        let start = format!("local {name} = ");
        let line = lua.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{part} has no {name}")).to_owned()
    };
    let micros = |duration: std::time::Duration| duration.as_micros().to_string();
    let of = |part| (part, file_of(part));
    let (part, lua) = of("ownerless_hold");
    assert_eq!(constant(part, lua, "REMEMBERED_FOR"), micros(super::REMEMBERED_FOR));
    assert!(
        crate::config::MAX_RETRY_FOR * 2 <= super::REMEMBERED_FOR,
        "the last retry may take as long"
    );
    let proxy = format!("'{}'", crate::validate::PROXY_LEASE_PREFIX);
    assert_eq!(constant(part, lua, "PROXY"), proxy);
    let (part, lua) = of("wait_updates");
    assert_eq!(constant(part, lua, "ALIVE_FOR"), micros(crate::config::SWEEP_EVERY * 3));
    let watched = constant("watch", source("watch"), "WATCHED_FOR");
    assert_eq!(watched, micros(crate::config::RENEW_WATCH_EVERY * 3));
    let (part, lua) = of("semaphore");
    assert_eq!(constant(part, lua, "MAX_PERMITS"), "2 ^ 53 - 1");
    assert_eq!(crate::MAX_PERMITS, (1 << 53) - 1);
}

/// Keys and channels that Rust names are spelled as Lua spells them.
#[test]
fn lua_and_rust_spell_keys_alike() {
    let keys = crate::transport::keys::Keys::new("p");
    let namespace = keys.namespace("ns");
    for (rust, file, lua) in [
        (keys.node_channel("ns", "N"), "queue_keys", "namespace .. ':node:' .. node"),
        (keys.nodes_channel("ns"), "hand_off", "namespace .. ':nodes'"),
        (keys.watch_channel("ns", "N"), "semaphore", "namespace .. ':watch:' .. s.name"),
    ] {
        assert!(file_of(file).contains(lua), "{file} does not have {lua}");
        let spelled = lua.split('\'').nth(1).unwrap();
        let rest = rust.strip_prefix(&namespace).unwrap().trim_end_matches('N');
        assert_eq!(rest, spelled);
    }
}
