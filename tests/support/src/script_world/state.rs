//! A namespace's keys, read in one step, as they stand in Redis.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::test_redis::TestRedis;

/// Every key of one namespace with its content: `[[key, type, [content…]], …]`.
const DUMP: &str = r"
    local all = {}
    for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
      local kind, content = redis.call('TYPE', key).ok, nil
      if kind == 'hash' then content = redis.call('HGETALL', key)
      elseif kind == 'zset' then content = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
      else content = { redis.call('GET', key) } end
      all[#all + 1] = { key, kind, content }
    end
    return #all == 0 and '[]' or cjson.encode(all)";

/// Who holds what no lease ends.
pub const OWNERLESS: &str = "ownerless";

pub(super) type Hash = BTreeMap<String, String>;
/// In the order of its scores.
pub(super) type Zset = Vec<(String, i64)>;
/// Where waits stand: tags may be fractions.
pub(super) type Places = BTreeMap<String, f64>;

/// The keys, without what they all begin with: `:leases`, `:semaphore:s:queue`; the namespace's own
/// record is the empty one.
#[derive(Debug, Default)]
pub struct State {
    pub hashes: BTreeMap<String, Hash>,
    pub zsets: BTreeMap<String, Zset>,
    /// Of those, once more, the ones that hold places: queues, the parked ones, flows.
    pub places: BTreeMap<String, Places>,
    pub texts: BTreeMap<String, String>,
}

/// What stands in field `hold:<semaphore>` of a lease.
#[derive(Debug, Clone, Deserialize)]
pub struct Hold {
    pub weight: i64,
    pub fencing_token: i64,
    pub locked_at: i64,
    pub calls: Vec<String>,
    pub score: Option<f64>,
    /// In use, whatever becomes of the calls that are still known of it.
    #[serde(default)]
    pub settled: bool,
    #[serde(default)]
    pub metadata: Hash,
}

/// What stands in field `wait:<semaphore>` of a lease.
#[derive(Debug, Clone, Deserialize)]
pub struct Wait {
    pub weight: i64,
    pub score: f64,
    arrival: Option<i64>,
    /// Where its tag begins, in a flow.
    pub start: Option<f64>,
    #[serde(default = "one")]
    pub share: i64,
    pub queued_at: i64,
    pub calls: Vec<WaitingCall>,
    #[serde(default)]
    pub metadata: Hash,
}

#[derive(Debug, Clone, Deserialize)]
pub struct WaitingCall {
    pub ticket: String,
    pub deadline_at: i64,
    pub parked: bool,
}

fn one() -> i64 {
    1
}

impl Wait {
    pub fn arrival(&self) -> i64 {
        self.arrival.unwrap_or(self.score as i64)
    }

    pub fn listens(&self) -> bool {
        self.calls.iter().any(|call| !call.parked)
    }

    pub fn ends_at(&self) -> i64 {
        self.calls.iter().map(|call| call.deadline_at).max().unwrap_or_default()
    }
}

impl State {
    pub async fn read(redis: &TestRedis, namespace: &str) -> Self {
        let base = format!("{}:{{{namespace}}}", redis.prefix());
        let dump: String = redis.run(&["EVAL", DUMP, "0", &format!("{base}*")]).await;
        let dump: Vec<(String, String, Content)> = serde_json::from_str(&dump).expect("a dump");
        let mut state = Self::default();
        for (key, kind, Content(content)) in dump {
            let key = key.strip_prefix(&base).expect("a key of the namespace").to_owned();
            match kind.as_str() {
                "hash" => drop(state.hashes.insert(key, pairs(content).collect())),
                "zset" => {
                    let scores = scores(content);
                    if holds_places(&key) {
                        state.places.insert(key.clone(), scores.iter().cloned().collect());
                    }
                    let whole = scores.into_iter().map(|(member, score)| (member, score as i64));
                    state.zsets.insert(key, whole.collect());
                }
                _ => drop(state.texts.insert(key, content.concat())),
            }
        }
        state
    }

    /// Who stands where in a semaphore's `queue`, `parked`, or `flow:<process_id>`.
    pub fn places(&self, semaphore: &str, list: &str) -> Places {
        self.places.get(&format!(":semaphore:{semaphore}:{list}")).cloned().unwrap_or_default()
    }

    pub fn zset(&self, key: &str) -> &[(String, i64)] {
        self.zsets.get(key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Lease id and the fields of its record.
    pub fn leases(&self) -> impl Iterator<Item = (&str, &Hash)> {
        self.owners().filter(|(owner, _)| *owner != OWNERLESS)
    }

    /// The leases, and what stands for the holds that none of them ends.
    pub fn owners(&self) -> impl Iterator<Item = (&str, &Hash)> {
        self.hashes.iter().filter_map(|(key, hash)| Some((key.strip_prefix(":lease:")?, hash)))
    }

    /// The names of the semaphores that have a record.
    pub fn semaphores(&self) -> impl Iterator<Item = &str> {
        self.hashes.keys().filter_map(|key| key.strip_prefix(":semaphore:"))
    }

    /// A number of a semaphore's record.
    pub fn number(&self, semaphore: &str, field: &str) -> i64 {
        let text = &self.hashes[&format!(":semaphore:{semaphore}")][field];
        text.parse().unwrap_or_else(|_| panic!("{field} of {semaphore} is {text:?}"))
    }

    pub fn holds(&self, semaphore: &str) -> BTreeMap<&str, Hold> {
        self.field(&format!("hold:{semaphore}"))
    }

    pub fn waits(&self, semaphore: &str) -> BTreeMap<&str, Wait> {
        self.field(&format!("wait:{semaphore}"))
    }

    fn field<'a, T: Deserialize<'a>>(&'a self, field: &str) -> BTreeMap<&'a str, T> {
        let parse = |(lease, fields): (&'a str, &'a Hash)| {
            let text = fields.get(field)?;
            let value = serde_json::from_str(text);
            Some((
                lease,
                value.unwrap_or_else(|error| panic!("{field} of {lease}: {error}: {text}")),
            ))
        };
        self.owners().filter_map(parse).collect()
    }
}

/// A list of texts; Lua writes an empty one as `{}`.
struct Content(Vec<String>);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Some(Vec<String>),
            None {},
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Some(texts) => Self(texts),
            Either::None {} => Self(Vec::new()),
        })
    }
}

fn holds_places(key: &str) -> bool {
    let list = key.strip_prefix(":semaphore:").and_then(|rest| rest.split_once(':'));
    list.is_some_and(|(_, list)| ["queue", "parked"].contains(&list) || list.starts_with("flow:"))
}

fn pairs(flat: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let mut flat = flat.into_iter();
    std::iter::from_fn(move || Some((flat.next()?, flat.next()?)))
}

fn scores(flat: Vec<String>) -> Vec<(String, f64)> {
    // Redis may write 1.8e+15; all scores but places are integers below 2^53.
    pairs(flat).map(|(member, score)| (member, score.parse().expect("a score"))).collect()
}
