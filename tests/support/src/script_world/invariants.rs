//! What holds of a namespace's keys after every script, whatever it did.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{Hash, Hold, OWNERLESS, Places, State, Wait};

/// How long after its deadline a call that listens is still known (`SLACK`), in µs.
const SLACK: i64 = 1_000_000;
/// Places of holds that grow are that much smaller.
const GROWING: i64 = 1 << 52;
const LEASE_FIELDS: [&str; 3] = ["created_at", "metadata", "process_id"];

/// Every rule that the state breaks, in words.
pub(crate) fn faults(state: &State, now: i64) -> Vec<String> {
    let mut check = Check { state, now, faults: Vec::new() };
    check.keys();
    check.leases();
    check.due();
    check.nodes();
    check.index();
    for name in state.semaphores() {
        check.semaphore(name);
    }
    check.faults
}

struct Check<'a> {
    state: &'a State,
    now: i64,
    faults: Vec<String>,
}

impl Check<'_> {
    fn that(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, is: T, right: T) {
        self.that(is == right, || format!("{what}: is {is:?}, should be {right:?}"));
    }

    /// No key but those of the schema, and none without the namespace.
    fn keys(&mut self) {
        let texts: Vec<_> = self.state.texts.keys().filter(|key| *key != ":clock").collect();
        self.same("texts", texts, Vec::new());
        let known =
            |key: &&String| key.is_empty() || has(key, ":semaphore:") || has(key, ":lease:");
        let hashes: Vec<_> = self.state.hashes.keys().filter(|key| !known(key)).collect();
        self.same("unknown hashes", hashes, Vec::new());
        let zsets: Vec<_> = self.state.zsets.keys().filter(|key| !self.is_list(key)).collect();
        self.same("unknown zsets", zsets, Vec::new());
        let alone = self.state.hashes.is_empty() && self.state.zsets.is_empty();
        let there = self.state.hashes.contains_key("");
        self.that(there || alone, || "keys of a namespace that is not there".to_owned());
    }

    fn is_list(&self, key: &str) -> bool {
        let of_semaphore = || {
            let (name, list) = key.strip_prefix(":semaphore:")?.split_once(':')?;
            let known = ["holders", "queue", "parked", "weights", "calls"].contains(&list)
                || list.starts_with("flow:");
            (known && self.state.semaphores().any(|semaphore| semaphore == name)).then_some(())
        };
        [":semaphores", ":leases", ":leases:created", ":due"].contains(&key)
            || has(key, ":node:")
            || has(key, ":process:")
            || of_semaphore().is_some()
    }

    fn index(&mut self) {
        let records: BTreeSet<_> = self.state.semaphores().collect();
        self.same("the index of semaphores", members(self.state.zset(":semaphores")), records);
    }

    /// Each lease stands once in each of its lists, and holds and waits only where it is listed.
    fn leases(&mut self) {
        let state = self.state;
        let records: BTreeSet<_> = state.leases().map(|(lease, _)| lease).collect();
        self.same(":leases", members(state.zset(":leases")), records);
        let created: BTreeMap<_, _> =
            state.leases().map(|(lease, fields)| (lease, number(fields, "created_at"))).collect();
        self.same(":leases:created", map(state.zset(":leases:created")), created.clone());
        let mut by_process = BTreeMap::<_, BTreeMap<_, _>>::new();
        for (lease, fields) in state.leases() {
            let process = format!(":process:{}", fields["process_id"]);
            by_process.entry(process).or_default().insert(lease, created[lease]);
            self.fields(lease, fields, LEASE_FIELDS.len());
        }
        if let Some((_, fields)) = state.owners().find(|(owner, _)| *owner == OWNERLESS) {
            self.fields(OWNERLESS, fields, 0);
        }
        let listed = state.zsets.iter().filter(|(key, _)| has(key, ":process:"));
        let listed = listed.map(|(key, zset)| (key.clone(), map(zset))).collect();
        self.same("leases by process", listed, by_process);
    }

    fn fields(&mut self, lease: &str, fields: &Hash, of_its_own: usize) {
        let plain = |field: &&String| LEASE_FIELDS.contains(&field.as_str());
        self.same(lease, fields.keys().filter(plain).count(), of_its_own);
        for field in fields.keys().filter(|field| !plain(field)) {
            let name = field.strip_prefix("hold:").or_else(|| field.strip_prefix("wait:"));
            let there = name.is_some_and(|name| self.state.semaphores().any(|known| known == name));
            self.that(there, || format!("{lease} has {field:?}, of no semaphore"));
        }
    }

    fn semaphore(&mut self, name: &str) {
        let (holds, waits) = (self.state.holds(name), self.state.waits(name));
        let list = |list: &str| self.state.zset(&format!(":semaphore:{name}:{list}"));
        let (holders, weights) = (list("holders"), list("weights"));

        let locked: BTreeMap<_, _> = holds.iter().map(|(id, hold)| (*id, hold.locked_at)).collect();
        self.same("holders", map(holders), locked);
        let heavy: BTreeMap<_, _> = waits.iter().map(|(id, wait)| (*id, wait.weight)).collect();
        self.same("weights", map(weights), heavy);
        let places = |listen: bool| -> Places {
            let these = waits.iter().filter(|(_, wait)| wait.listens() == listen);
            these.map(|(id, wait)| ((*id).to_owned(), wait.score)).collect()
        };
        let (queue, parked) = (places(true), places(false));
        self.stand("queue", &self.state.places(name, "queue"), queue);
        self.stand("parked", &self.state.places(name, "parked"), parked);
        self.flows(name, &waits);
        self.counters(name, &holds, &waits);
        self.tokens(name, &holds);
        self.places(name, &holds, &waits);
        if !self.is_unfinished(name) {
            self.finished(name, &holds, &waits);
        }
    }

    fn counters(&mut self, name: &str, holds: &BTreeMap<&str, Hold>, waits: &BTreeMap<&str, Wait>) {
        let count = |number: usize| i64::try_from(number).expect("fewer");
        let live = || waits.values().filter(|wait| wait.listens());
        let held = holds.values().map(|hold| hold.weight).sum();
        let right = [
            ("active_holds", held),
            ("active_holders_count", count(holds.len())),
            ("waiting_count", count(live().count())),
        ];
        for (field, right) in right {
            self.same(&format!("{name} {field}"), self.state.number(name, field), right);
        }
        let number = |field| i128::from(self.state.number(name, field));
        let weight = number("waiting_weight") + (number("waiting_carry") << 53);
        let right = live().map(|wait| i128::from(wait.weight)).sum();
        self.same(&format!("{name} waiting_weight"), weight, right);
        let permits = self.state.number(name, "permits");
        self.that(held <= permits, || format!("{name}: {held} of {permits} are held"));
    }

    fn tokens(&mut self, name: &str, holds: &BTreeMap<&str, Hold>) {
        let tokens: BTreeSet<_> = holds.values().map(|hold| hold.fencing_token).collect();
        self.same("holds with a token of their own", tokens.len(), holds.len());
        let last = self.state.number(name, "fencing_token");
        let highest = tokens.last().copied().unwrap_or_default();
        let unclaimed = holds.values().any(|hold| hold.calls.is_empty() && !hold.settled);
        self.that(!unclaimed, || "a hold that is nobody's answer".to_owned());
        self.that(highest <= last, || format!("a hold's token {highest} is beyond {last}"));
    }

    /// The same who, each at the same place: what is read as JSON may be off by the last bit.
    fn stand(&mut self, what: &str, is: &Places, right: Places) {
        let near = |(is, right): (f64, f64)| (is - right).abs() <= right.abs() * 1e-15;
        let agree = is.keys().eq(right.keys())
            && is.values().copied().zip(right.values().copied()).all(near);
        self.that(agree, || format!("{what}: is {is:?}, should be {right:?}"));
    }

    /// In flows stand those that listen in a weighted queue and hold nothing, each in its process'.
    fn flows(&mut self, name: &str, waits: &BTreeMap<&str, Wait>) {
        let mut right = BTreeMap::<String, Places>::new();
        let processes: BTreeMap<_, _> =
            self.state.leases().map(|(lease, fields)| (lease, &fields["process_id"])).collect();
        for (lease, wait) in waits.iter().filter(|(_, wait)| wait.listens()) {
            if wait.start.is_none() {
                continue;
            }
            let flow = format!(":semaphore:{name}:flow:{}", processes[lease]);
            right.entry(flow).or_default().insert((*lease).to_owned(), wait.arrival() as f64);
        }
        let prefix = format!(":semaphore:{name}:flow:");
        let flows = self.state.places.iter().filter(|(key, _)| key.starts_with(&prefix));
        let flows: BTreeMap<_, _> = flows.map(|(key, flow)| (key.clone(), flow.clone())).collect();
        self.same("flows", flows.keys().collect::<Vec<_>>(), right.keys().collect());
        for (flow, right) in right {
            self.stand(&flow, &flows.get(&flow).cloned().unwrap_or_default(), right);
        }
    }

    /// Arrivals are counted once, and places follow from them or from starts; ahead of all stand
    /// those that hold already and grow, and only they.
    fn places(&mut self, name: &str, holds: &BTreeMap<&str, Hold>, waits: &BTreeMap<&str, Wait>) {
        let arrivals: BTreeSet<_> = waits.values().map(Wait::arrival).collect();
        self.same("waits with an arrival of their own", arrivals.len(), waits.len());
        let (next, last) = (self.state.number(name, "next_arrival"), arrivals.last().copied());
        self.that(last < Some(next), || format!("place {last:?} is given, the next is {next}"));
        let record = &self.state.hashes[&format!(":semaphore:{name}")];
        let discipline = record.get("discipline").map(String::as_str);
        let timed = record.contains_key("virtual_time");
        self.that(!timed || discipline == Some("weighted") && !waits.is_empty(), || {
            format!("{discipline:?} has a virtual time, and there wait {waits:?}")
        });
        for (lease, wait) in waits {
            let (arrival, weight) = (wait.arrival(), wait.weight as f64);
            let right = match (holds.contains_key(lease), discipline, wait.start) {
                (true, _, None) => Some((arrival - GROWING) as f64),
                (false, None, None) => Some(arrival as f64),
                (false, Some("lifo"), None) => Some(-arrival as f64),
                (false, Some("weighted"), Some(start)) => Some(start + weight / wait.share as f64),
                _ => None,
            };
            let near = |right: f64| (wait.score - right).abs() <= right.abs() * 1e-15;
            self.that(right.is_some_and(near), || {
                format!("{lease} should stand at {right:?}, {discipline:?}: {wait:?}")
            });
            let tickets: BTreeSet<_> = wait.calls.iter().map(|call| &call.ticket).collect();
            self.same("calls of a wait, each once", tickets.len(), wait.calls.len());
            self.that(!tickets.is_empty(), || format!("{lease} waits for no call"));
        }
    }

    /// Is work on this semaphore left to the next script, or something due that may change it?
    fn is_unfinished(&self, name: &str) -> bool {
        let due = self
            .state
            .zset(":due")
            .iter()
            .any(|(entry, at)| *at <= self.now || *entry == format!("semaphore {name}"));
        due || self.state.zset(":leases").iter().any(|(_, at)| *at <= self.now)
    }

    /// Nobody waits for what is free, or for what can never be.
    fn finished(&mut self, name: &str, holds: &BTreeMap<&str, Hold>, waits: &BTreeMap<&str, Wait>) {
        let permits = self.state.number(name, "permits");
        let heavy: Vec<_> = waits.iter().filter(|(_, wait)| wait.weight > permits).collect();
        self.that(heavy.is_empty(), || format!("too heavy for {permits}: {heavy:?}"));
        let Some((head, _)) = self.state.zset(&format!(":semaphore:{name}:queue")).first() else {
            return;
        };
        let wait = &waits[head.as_str()];
        let held = holds.get(head.as_str()).map_or(0, |hold| hold.weight);
        let free = permits - self.state.number(name, "active_holds");
        let over = wait.ends_at() <= self.now;
        self.that(over || wait.weight - held > free, || {
            format!("{head} waits at the head of {name} for {}, and {free} are free", wait.weight)
        });
    }

    /// One entry for each wait, one for each node through which calls wait; beside them only work
    /// that a script left to the next.
    fn due(&mut self) {
        let mut rest: BTreeMap<_, _> = map(self.state.zset(":due"));
        for (entry, wait) in self.entries() {
            let at = rest.remove(entry.as_str()).unwrap_or(i64::MIN);
            let ends_at = wait.ends_at();
            let right = (ends_at..=ends_at + SLACK).contains(&at);
            self.that(right, || format!("{entry} ends at {ends_at} and is due at {at}"));
        }
        for node in self.state.zsets.keys().filter_map(|key| key.strip_prefix(":node:")) {
            let there = rest.remove(format!("node {node}").as_str()).is_some();
            self.that(there, || format!("{node} has no alive mark"));
        }
        for name in self.state.semaphores() {
            let due = rest.remove(format!("calls {name}").as_str());
            let calls = self.state.zset(&format!(":semaphore:{name}:calls"));
            self.that(calls.is_empty() || due.is_some(), || {
                format!("calls of {name} are remembered for ever: {calls:?}")
            });
        }
        rest.retain(|entry, at| !(entry.starts_with("semaphore ") && *at <= self.now));
        self.same("due for nothing", rest, BTreeMap::new());
    }

    fn entries(&self) -> Vec<(String, Wait)> {
        let of = |name| {
            let waits = self.state.waits(name).into_iter();
            waits.map(move |(lease, wait)| (format!("wait {lease} {name}"), wait))
        };
        self.state.semaphores().flat_map(of).collect()
    }

    /// The list of a node has the calls that listen through it.
    fn nodes(&mut self) {
        let mut right = BTreeMap::<String, BTreeSet<String>>::new();
        for (entry, wait) in self.entries() {
            let whose = entry.strip_prefix("wait ").expect("an entry of a wait");
            for call in wait.calls.iter().filter(|call| !call.parked) {
                let (node, _) = call.ticket.split_once(':').expect("<node>:<number>");
                let listed = format!("{} {whose}", call.ticket);
                right.entry(format!(":node:{node}")).or_default().insert(listed);
            }
        }
        let lists = self.state.zsets.iter().filter(|(key, _)| has(key, ":node:"));
        let lists = lists.map(|(key, zset)| {
            (key.clone(), zset.iter().map(|(member, _)| member.clone()).collect())
        });
        self.same("calls by node", lists.collect(), right);
    }
}

fn has(key: &str, prefix: &str) -> bool {
    key.strip_prefix(prefix).is_some_and(|rest| prefix != ":semaphore:" || !rest.contains(':'))
}

fn members(zset: &[(String, i64)]) -> BTreeSet<&str> {
    zset.iter().map(|(member, _)| member.as_str()).collect()
}

fn map(zset: &[(String, i64)]) -> BTreeMap<&str, i64> {
    zset.iter().map(|(member, score)| (member.as_str(), *score)).collect()
}

fn number(fields: &Hash, field: &str) -> i64 {
    fields.get(field).and_then(|text| text.parse().ok()).unwrap_or(i64::MIN)
}
