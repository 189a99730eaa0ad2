//! All that runs in a round: Redis, and nodes before it, each behind a link of its own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use grackle_client::Client;
use tokio::sync::watch;

use crate::fault::Fault;
use crate::history::time_of_day;
use crate::node::Node;
use grackle_test_support::eventually;
use grackle_test_support::{
    Http, Link, OwnRedis, ProcessClock, RedisServer, ServerProcess, TestNamespace,
};

/// The permits of each semaphore that callers come to.
pub(crate) const PERMITS: [i64; 3] = [1, 3, 10];

/// SDK clients; the nodes after them are servers.
const CLIENTS: usize = 2;
const SERVERS: usize = 2;

pub(crate) struct Fleet {
    pub(crate) redis: OwnRedis,
    pub(crate) redis_clock: Option<ProcessClock>,
    /// That of each node, by number.
    pub(crate) links: Vec<Link>,
    pub(crate) servers: Vec<Server>,
    clients: Vec<Client>,
    /// Beside all links: makes and looks at what callers use.
    pub(crate) space: TestNamespace,
}

/// A server process that is replaced now and then.
pub(crate) struct Server {
    pub(crate) process: ServerProcess,
    pub(crate) clock: Option<ProcessClock>,
    at: watch::Sender<Http>,
}

impl Fleet {
    /// None where the machine lacks what the fault takes.
    pub(crate) async fn start(fault: Fault) -> Option<Self> {
        let clock = |needed: bool| if needed { ProcessClock::new().map(Some) } else { Some(None) };
        let redis_clock = clock(fault.steps_redis_clock())?;
        let options = redis_options(fault);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let redis = OwnRedis::start_by(&options, redis_clock.clone()).await;
        let space = TestNamespace::create(redis.client().await, 1).await;
        for (index, permits) in PERMITS.into_iter().enumerate() {
            space.semaphore(&Self::semaphore(index), permits).await;
        }
        let mut links = Vec::new();
        for _ in 0..CLIENTS + SERVERS {
            links.push(Link::to(&redis).await);
        }
        let (mut clients, mut servers) = (Vec::new(), Vec::new());
        for link in &links[..CLIENTS] {
            let mut config = redis.config();
            config.redis_url = link.url();
            clients.push(Client::connect_with(config).await.expect("Redis is there"));
        }
        for link in &links[CLIENTS..] {
            let clock = clock(fault.steps_client_clocks())?;
            let process = start_server(&redis, link, clock.as_ref()).await;
            let at = watch::Sender::new(Http::to(process.url()));
            servers.push(Server { process, clock, at });
        }
        Some(Self { redis, redis_clock, links, servers, clients, space })
    }

    /// Returns once Redis goes by a clock that is stepped so far: it looks once a second.
    pub(crate) async fn redis_clock_shows(&self, seconds: i64) {
        eventually("Redis' clock steps", Duration::from_secs(20), async || {
            let (is, _): (i64, i64) = self.redis.run(&["TIME"]).await;
            let since = time_of_day().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let is_ahead = is - i64::try_from(since.as_secs()).expect("not so late");
            ((is_ahead - seconds).abs() <= 2).then_some(())
        })
        .await;
    }

    pub(crate) fn semaphore(index: usize) -> String {
        format!("s{index}")
    }

    /// Every node, by number.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let clients = self.clients.iter().cloned().map(Node::Sdk);
        let servers = self.servers.iter().map(|server| Node::Server(server.at.subscribe()));
        clients.chain(servers).collect()
    }

    /// The number of a server among the nodes.
    pub(crate) fn node_of(server: usize) -> usize {
        CLIENTS + server
    }

    /// Another process for the server; it has the callers from now on. The one before is returned.
    pub(crate) async fn replace(&mut self, index: usize) -> ServerProcess {
        let server = &self.servers[index];
        let link = &self.links[Self::node_of(index)];
        let process = start_server(&self.redis, link, server.clock.as_ref()).await;
        server.at.send_replace(Http::to(process.url()));
        std::mem::replace(&mut self.servers[index].process, process)
    }
}

async fn start_server(
    redis: &OwnRedis,
    link: &Link,
    clock: Option<&ProcessClock>,
) -> ServerProcess {
    // The shortest grace: what hung up is gone when a round is over.
    let flags = ["--hang-up-grace-seconds", "1"];
    ServerProcess::start_by(clock, &link.url(), redis, &flags).await
}

fn redis_options(fault: Fault) -> Vec<String> {
    let mut options = Vec::new();
    if fault.kills_redis() {
        options.extend(["--appendonly", "yes", "--appendfsync", "always"].map(str::to_owned));
    }
    // Before Redis 7 DEBUG is always there, and the option is not known.
    if major_version(&RedisServer::needed()) >= 7 {
        options.extend(["--enable-debug-command", "yes"].map(str::to_owned));
    }
    options
}

/// Of `Redis server v=7.0.15 sha=…`.
fn major_version(binary: &Path) -> u32 {
    let output = Command::new(binary).arg("--version").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = said.split(" v=").nth(1).and_then(|version| version.split('.').next());
    version.and_then(|major| major.parse().ok()).expect("a version")
}
