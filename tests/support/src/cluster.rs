//! A Redis Cluster.

use std::time::Duration;

use super::eventually::eventually;
use super::redis_server::RedisServer;
use super::replica_progress;
use super::test_redis::TestRedis;
use crate::raw_connection::RawConnection;

const SETTLES_WITHIN: Duration = Duration::from_secs(30);
const SLOTS: u32 = 16_384;
const MASTERS: usize = 3;

/// Three masters, each with a replica that replaces it within seconds.
pub struct Cluster {
    nodes: Vec<Node>,
}

/// A server of a cluster, and the name that it has there.
pub struct Node {
    pub server: RedisServer,
    pub raw: RawConnection,
    id: String,
}

impl Cluster {
    /// Starts the servers, and waits until they are one cluster.
    pub async fn start() -> Self {
        let mut nodes = Vec::new();
        for _ in 0..2 * MASTERS {
            nodes.push(Node::start().await);
        }
        let this = Self { nodes };
        this.meet().await;
        this.share_slots().await;
        this.replicate().await;
        this
    }

    /// The address for a client: the first masters.
    pub fn url(&self) -> String {
        self.url_by(&[0, 1, 2])
    }

    /// The same, naming these nodes; the masters at first are 0 to 2, and n + 3 the replica of n.
    pub fn url_by(&self, nodes: &[usize]) -> String {
        let hosts = nodes.iter().map(|at| format!("127.0.0.1:{}", self.nodes[*at].server.port()));
        format!("redis+cluster://{}", hosts.collect::<Vec<_>>().join(","))
    }

    pub async fn redis(&self) -> TestRedis {
        self.redis_at(self.url()).await
    }

    pub async fn redis_at(&self, url: String) -> TestRedis {
        TestRedis::laid_out(url, self.masters().await).await
    }

    pub fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    pub fn server(&mut self, at: usize) -> &mut RedisServer {
        &mut self.nodes[at].server
    }

    /// A connection to each that is a master now.
    pub async fn masters(&self) -> Vec<RawConnection> {
        let mut masters = Vec::new();
        for node in &self.nodes {
            let info = node.raw.try_run::<String>(&["INFO", "replication"]).await;
            if info.is_ok_and(|info| info.contains("role:master")) {
                masters.push(node.raw.clone());
            }
        }
        masters
    }

    /// Which node has the slot of a key, as the first that answers says.
    pub async fn owner(&self, key: &str) -> usize {
        let slot = self.slot(key).await;
        for node in &self.nodes {
            let list = node.raw.try_run::<String>(&["CLUSTER", "NODES"]).await;
            let port = list.ok().and_then(|list| list.lines().find_map(|line| has(line, slot)));
            if let Some(port) = port {
                return self.at_port(port);
            }
        }
        panic!("nobody has the slot of {key}");
    }

    pub async fn slot(&self, key: &str) -> u32 {
        self.nodes[0].raw.run(&["CLUSTER", "KEYSLOT", key]).await
    }

    /// Waits until a replica is master in that node's place.
    pub async fn replaced(&self, at: usize) {
        let replica = &self.nodes[at + MASTERS];
        eventually("the replica is master", SETTLES_WITHIN, async || {
            let info: String = replica.raw.try_run(&["INFO", "replication"]).await.ok()?;
            info.contains("role:master").then_some(())
        })
        .await;
    }

    /// Waits until each replica has what was written by now.
    pub async fn replicated(&self) {
        for master in self.masters().await {
            replica_progress::catch_up(&master, 1).await;
        }
    }

    /// Says that a slot is on its way from one node to another.
    pub async fn begin_to_move(&self, slot: u32, from: usize, to: usize) {
        let slot = slot.to_string();
        let [source, target] = [&self.nodes[from], &self.nodes[to]];
        let importing = ["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source.id];
        let _: String = target.raw.run(&importing).await;
        let migrating = ["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target.id];
        let _: String = source.raw.run(&migrating).await;
    }

    /// Moves so many keys of the slot; how many there were to move.
    pub async fn move_keys(&self, slot: u32, from: usize, to: usize, count: u32) -> usize {
        let [source, target] = [&self.nodes[from], &self.nodes[to]];
        let ask = ["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), &count.to_string()];
        let keys: Vec<String> = source.raw.run(&ask).await;
        for key in &keys {
            let port = target.server.port().to_string();
            let migrate = ["MIGRATE", "127.0.0.1", &port, key, "0", "5000"];
            let _: String = source.raw.run(&migrate).await;
        }
        keys.len()
    }

    /// Says to all that the slot has arrived.
    pub async fn end_to_move(&self, slot: u32, to: usize) {
        let (slot, id) = (slot.to_string(), &self.nodes[to].id);
        let mut others: Vec<usize> = (0..MASTERS).filter(|at| *at != to).collect();
        others.insert(0, to);
        for at in others {
            let _: String =
                self.nodes[at].raw.run(&["CLUSTER", "SETSLOT", &slot, "NODE", id]).await;
        }
    }

    async fn meet(&self) {
        for node in &self.nodes[1..] {
            let port = node.server.port().to_string();
            let meet = ["CLUSTER", "MEET", "127.0.0.1", &port];
            let _: String = self.nodes[0].raw.run(&meet).await;
        }
        self.all("know each other", async |node| {
            let list: String = node.raw.try_run(&["CLUSTER", "NODES"]).await.ok()?;
            let known: Vec<_> = list.lines().collect();
            let shaken = known.iter().all(|line| !line.contains("handshake"));
            (known.len() == self.nodes.len() && shaken).then_some(())
        })
        .await;
    }

    async fn share_slots(&self) {
        let share = SLOTS / u32::try_from(MASTERS).expect("few") + 1;
        for (at, node) in (0..).zip(&self.nodes[..MASTERS]) {
            // Different epochs, so that nobody has to give way at first.
            let epoch = ["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()];
            let _ = node.raw.try_run::<String>(&epoch).await;
            let slots: Vec<String> =
                (at * share..((at + 1) * share).min(SLOTS)).map(|slot| slot.to_string()).collect();
            let words: Vec<&str> = ["CLUSTER", "ADDSLOTS"]
                .into_iter()
                .chain(slots.iter().map(String::as_str))
                .collect();
            let _: String = node.raw.run(&words).await;
        }
        self.all("have all slots", Node::is_ok).await;
    }

    async fn replicate(&self) {
        for (master, replica) in self.nodes.iter().zip(&self.nodes[MASTERS..]) {
            let _: String = replica.raw.run(&["CLUSTER", "REPLICATE", &master.id]).await;
        }
        for master in &self.nodes[..MASTERS] {
            replica_progress::follow(&master.raw, 1).await;
        }
        self.all("know the replicas", async |node| {
            let list: String = node.raw.try_run(&["CLUSTER", "NODES"]).await.ok()?;
            (list.matches("slave").count() == MASTERS).then_some(())
        })
        .await;
    }

    async fn all(&self, what: &str, is_so: impl AsyncFn(&Node) -> Option<()>) {
        for node in &self.nodes {
            eventually(&format!("all nodes {what}"), SETTLES_WITHIN, async || is_so(node).await)
                .await;
        }
    }

    fn at_port(&self, port: u16) -> usize {
        let here = |node: &Node| node.server.port() == port;
        self.nodes.iter().position(here).expect("a node of the cluster")
    }
}

/// The port of the master in a line of CLUSTER NODES, if it has the slot:
/// `<id> 127.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-5460 5462`.
fn has(line: &str, slot: u32) -> Option<u16> {
    let fields: Vec<&str> = line.split(' ').collect();
    let holds = |range: &&str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>(), last.parse());
        matches!((first, last), (Ok(first), Ok(last)) if (first..=last).contains(&slot))
    };
    fields.get(8..)?.iter().find(|range| holds(range))?;
    let (address, _) = fields[1].split_once('@')?;
    let (_, port) = address.rsplit_once(':')?;
    port.parse().ok()
}

impl Node {
    async fn start() -> Self {
        // The servers talk to each other on that port and 10,000: a start fails if it is taken.
        let options = [
            ["--cluster-enabled", "yes"],
            ["--cluster-node-timeout", "1000"],
            ["--repl-diskless-sync-delay", "0"],
        ];
        let binary = RedisServer::needed();
        let server = RedisServer::start(binary, options.as_flattened()).await;
        let raw = server.raw();
        let id = raw.run(&["CLUSTER", "MYID"]).await;
        Self { server, raw, id }
    }

    async fn is_ok(&self) -> Option<()> {
        let info: String = self.raw.try_run(&["CLUSTER", "INFO"]).await.ok()?;
        info.contains("cluster_state:ok").then_some(())
    }
}
