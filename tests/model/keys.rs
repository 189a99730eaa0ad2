//! How the model's state stands in Redis: every key of a namespace with all that is in it.

use std::collections::{BTreeMap, BTreeSet};

use grackle_client::wire::QueueDiscipline as Discipline;
use regex::Regex;
use serde_json::{Value, json};

use crate::spec::{
    Call, Drain, Grant, Hold, Lease, Name, Namespace, Semaphore, Tag, Wait, description, metadata,
};
use crate::stage::text;
use grackle_test_support::script_world::State;

/// Key and field or member, without what the namespace's keys begin with.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys(pub(crate) BTreeMap<(String, String), Value>);

impl Keys {
    /// What stands in Redis.
    pub(crate) fn of(state: &State) -> Self {
        let mut keys = Self::default();
        for (key, fields) in &state.hashes {
            for (field, text) in fields {
                let is_json =
                    ["hold:", "wait:", "details"].iter().any(|json| field.starts_with(json));
                let value = match field.as_str() {
                    "virtual_time" => number(Tag(text.parse().expect("a number"))),
                    _ if is_json => exact(text),
                    _ => json!(text),
                };
                keys.put(key, field, value);
            }
        }
        for (key, places) in &state.places {
            for (member, place) in places {
                keys.put(key, member, number(Tag(*place)));
            }
        }
        for (key, members) in &state.zsets {
            if state.places.contains_key(key) {
                continue;
            }
            for (member, score) in members {
                // Since when a call waits through a node is for people.
                let score = if key.starts_with(":node:") { 0 } else { *score };
                keys.put(key, member, json!(score));
            }
        }
        keys
    }

    /// What has to stand there.
    pub(crate) fn expected(name: Name, namespace: Option<&Namespace>) -> Self {
        let mut keys = Self::default();
        if let Some(namespace) = namespace {
            keys.namespace(name, namespace);
        }
        keys
    }

    /// Each field that is not as it should be.
    pub(crate) fn differ(&self, right: &Self) -> Vec<String> {
        let all: BTreeSet<_> = self.0.keys().chain(right.0.keys()).collect();
        let differ = all.into_iter().filter(|key| self.0.get(*key) != right.0.get(*key));
        let show = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        differ
            .map(|key| {
                let (is, right) = (show(self.0.get(key)), show(right.0.get(key)));
                format!("{} {}:\n  {is}\n  {right}", key.0, key.1)
            })
            .collect()
    }

    fn put(&mut self, key: &str, field: &str, value: Value) {
        self.0.insert((key.to_owned(), field.to_owned()), value);
    }

    fn texts(&mut self, key: &str, fields: &[(&str, String)]) {
        for (field, text) in fields {
            self.put(key, field, json!(text));
        }
    }

    fn namespace(&mut self, name: Name, namespace: &Namespace) {
        self.texts(
            "",
            &[
                ("name", name.to_owned()),
                ("description", description(namespace.label)),
                ("metadata", labels(namespace.label)),
                ("version", namespace.version.to_string()),
                ("created_at", namespace.created_at.to_string()),
                ("updated_at", namespace.updated_at.to_string()),
                ("request", namespace.request.to_owned()),
            ],
        );
        namespace.leases.iter().for_each(|(id, lease)| self.lease(id, lease));
        namespace.semaphores.values().for_each(|semaphore| self.semaphore(semaphore));
        for (node, until) in &namespace.marks {
            self.put(":due", &format!("node {node}"), json!(until));
        }
    }

    fn lease(&mut self, id: Name, lease: &Lease) {
        self.texts(
            &format!(":lease:{id}"),
            &[
                ("process_id", lease.process.to_owned()),
                ("created_at", lease.created_at.to_string()),
                ("metadata", labels(lease.label)),
            ],
        );
        self.put(":leases", id, json!(lease.expires_at));
        self.put(":leases:created", id, json!(lease.created_at));
        self.put(&format!(":process:{}", lease.process), id, json!(lease.created_at));
    }

    fn semaphore(&mut self, semaphore: &Semaphore) {
        let name = semaphore.name;
        let key = format!(":semaphore:{name}");
        let live = semaphore.waits.values().filter(|wait| wait.listens());
        let weight: i128 = live.map(|wait| i128::from(wait.weight)).sum();
        self.texts(
            &key,
            &[
                ("permits", semaphore.permits.to_string()),
                ("active_holds", semaphore.held().to_string()),
                ("active_holders_count", semaphore.holds.len().to_string()),
                ("fencing_token", semaphore.last_token.to_string()),
                ("last_activity_at", semaphore.last_activity_at.to_string()),
                ("waiting_count", semaphore.queue().len().to_string()),
                ("waiting_weight", (weight % (1 << 53)).to_string()),
                ("waiting_carry", (weight >> 53).to_string()),
                ("next_arrival", semaphore.next_arrival.to_string()),
                ("request", semaphore.request.to_owned()),
            ],
        );
        // Not there before somebody has waited.
        if semaphore.next_arrival > 0 {
            let Drain { weight, before, since } = semaphore.drain;
            self.texts(
                &key,
                &[
                    ("drained", weight.to_string()),
                    ("drained_before", before.unwrap_or(-1).to_string()),
                    ("drained_since", since.to_string()),
                ],
            );
        }
        let shown = serde_json::to_value(semaphore.shown()).expect("JSON");
        let about = [
            "version",
            "created_at",
            "updated_at",
            "description",
            "metadata",
            "queue_discipline",
            "max_waiters",
        ];
        let about = about.iter().filter_map(|field| Some((*field, shown.get(field)?)));
        self.put(&key, "details", json!(about.collect::<BTreeMap<_, _>>()));
        self.put(":semaphores", name, json!(0));
        let word = match semaphore.discipline {
            Discipline::Lifo => Some("lifo"),
            Discipline::Weighted => Some("weighted"),
            _ => None,
        };
        if let Some(word) = word {
            self.put(&key, "discipline", json!(word));
        }
        if semaphore.max_waiters > 0 {
            self.put(&key, "max_waiters", json!(semaphore.max_waiters.to_string()));
        }
        if semaphore.virtual_time > Tag::default() {
            self.put(&key, "virtual_time", number(semaphore.virtual_time));
        }
        for (lease, hold) in &semaphore.holds {
            let field = format!("hold:{name}");
            self.put(&format!(":lease:{lease}"), &field, held(hold));
            self.put(&format!("{key}:holders"), lease, json!(hold.top().locked_at));
        }
        semaphore.waits.iter().for_each(|(lease, wait)| self.wait(semaphore, lease, wait));
        if semaphore.surplus > 0 {
            self.put(&key, "surplus", json!(semaphore.surplus.to_string()));
        }
        for (ticket, until) in &semaphore.remembered.calls {
            self.put(&format!("{key}:calls"), ticket, json!(until));
        }
        if let Some(due) = semaphore.remembered.due {
            self.put(":due", &format!("calls {name}"), json!(due));
        }
    }

    fn wait(&mut self, semaphore: &Semaphore, lease: Name, wait: &Wait) {
        let (key, name) = (format!(":semaphore:{}", semaphore.name), semaphore.name);
        let place = semaphore.score(lease, wait);
        let mut value = json!({
            "weight": wait.weight, "score": number(place), "queued_at": wait.queued_at,
            "calls": wait.calls.iter().map(waiting).collect::<Vec<_>>(),
        });
        add_labels(&mut value, wait.label);
        if place != Tag(f64::from(wait.arrival)) {
            value["arrival"] = json!(wait.arrival);
        }
        if wait.share != 1 {
            value["share"] = json!(wait.share);
        }
        if let Some(start) = wait.start {
            value["start"] = number(start);
        }
        self.put(&format!(":lease:{lease}"), &format!("wait:{name}"), value);
        let list = if wait.listens() { "queue" } else { "parked" };
        self.put(&format!("{key}:{list}"), lease, number(place));
        if wait.is_in_flow() {
            self.put(
                &format!("{key}:flow:{}", wait.process),
                lease,
                number(Tag(wait.arrival.into())),
            );
        }
        self.put(&format!("{key}:weights"), lease, json!(wait.weight));
        self.put(":due", &format!("wait {lease} {name}"), json!(wait.forgotten_at()));
        for call in wait.calls.iter().filter(|call| !call.parked) {
            let entry = format!("{} {lease} {name}", text(call.ticket));
            self.put(&format!(":node:{}", call.ticket.node), &entry, json!(0));
        }
    }
}

fn held(hold: &Hold) -> Value {
    let one = |was: Value, grant: &Grant| {
        let mut value = json!({
            "weight": grant.weight, "fencing_token": hold.token, "locked_at": grant.locked_at,
            "calls": grant.answered.iter().map(|ticket| text(*ticket)).collect::<Vec<_>>(),
        });
        if !grant.parked.is_empty() {
            value["parked"] = grant.parked.iter().map(waiting).collect();
        }
        if let Some(stood) = grant.stood {
            (value["arrival"], value["queued_at"]) = (json!(stood.arrival), json!(stood.queued_at));
            if stood.share != 1 {
                value["share"] = json!(stood.share);
            }
            if let Some(start) = stood.start {
                value["start"] = number(start);
            }
        }
        if grant.settled {
            value["settled"] = json!(true);
        }
        if !was.is_null() {
            value["was"] = was;
        }
        add_labels(&mut value, grant.label);
        value
    };
    hold.grants.iter().fold(Value::Null, one)
}

fn waiting(call: &Call) -> Value {
    json!({ "ticket": text(call.ticket), "deadline_at": call.deadline_at, "parked": call.parked })
}

fn labels(label: u8) -> String {
    if label == 0 { String::new() } else { json!(metadata(label)).to_string() }
}

fn add_labels(value: &mut Value, label: u8) {
    if label > 0 {
        value["metadata"] = json!(metadata(label));
    }
}

/// To the last bit, and whichever way it was written.
fn number(Tag(number): Tag) -> Value {
    json!(number.to_string())
}

/// JSON with its fractions as they are: what reads them as numbers may lose the last bit.
fn exact(text: &str) -> Value {
    let fraction = Regex::new(r#""(score|start)":([-+.e\d]+)"#).expect("a pattern");
    let quoted = fraction.replace_all(text, |found: &regex::Captures<'_>| {
        format!("\"{}\":{}", &found[1], number(Tag(found[2].parse().expect("a number"))))
    });
    let mut value: Value = serde_json::from_str(&quoted).expect("JSON");
    if value.get("fencing_token").is_some() {
        value = arrivals(value);
    }
    value
}

/// Of where a hold stood only its arrival is of interest, and where its tag began.
fn arrivals(mut value: Value) -> Value {
    let place = value.as_object_mut().and_then(|hold| hold.remove("score"));
    if let Some(place) = place.filter(|_| value.get("arrival").is_none()) {
        value["arrival"] = json!(place.as_str().and_then(|text| text.parse::<i64>().ok()));
    }
    if let Some(was) = value.get_mut("was") {
        *was = arrivals(was.take());
    }
    value
}
