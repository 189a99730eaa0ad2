//! A master, its replicas, and the Sentinels that replace it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::eventually::eventually;
use super::port::free_port;
use super::process::Process;
use super::redis_server::{RedisServer, answers};
use super::replica_progress;
use super::test_redis::TestRedis;
use crate::raw_connection::RawConnection;

const NAME: &str = "grackle";
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// One master, two replicas, three Sentinels, which find a dead master within half a second.
pub struct Sentinels {
    servers: Vec<RedisServer>,
    sentinels: Vec<Sentinel>,
}

struct Sentinel {
    port: u16,
    raw: RawConnection,
    _process: Process,
    _folder: TempDir,
}

impl Sentinels {
    /// Starts them, and waits until all know of all.
    pub async fn start() -> Self {
        let binary = RedisServer::needed();
        let quick = ["--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"];
        let master = RedisServer::start(binary.clone(), &quick).await;
        let port = master.port().to_string();
        let mut servers = vec![master];
        for _ in 0..2 {
            let replica = [&quick[..], &["--replicaof", "127.0.0.1", &port]].concat();
            servers.push(RedisServer::start(binary.clone(), &replica).await);
        }
        let mut sentinels = Vec::new();
        for _ in 0..3 {
            sentinels.push(Sentinel::start(&binary, &port).await);
        }
        let this = Self { servers, sentinels };
        this.settled().await;
        this
    }

    /// The address for a client: the Sentinels, and the master's name.
    pub fn url(&self) -> String {
        let hosts = self.sentinels.iter().map(|sentinel| format!("127.0.0.1:{}", sentinel.port));
        format!("redis+sentinel://{}/{NAME}", hosts.collect::<Vec<_>>().join(","))
    }

    pub async fn redis(&self) -> TestRedis {
        TestRedis::laid_out(self.url(), vec![self.servers[0].raw()]).await
    }

    /// The server that is the master at first.
    pub fn first_master(&mut self) -> &mut RedisServer {
        &mut self.servers[0]
    }

    /// Waits until both replicas have what was written by now.
    pub async fn replicated(&self) {
        replica_progress::catch_up(&self.servers[0].raw(), 2).await;
    }

    /// Waits until all Sentinels name another master, which says so too; a connection to it.
    pub async fn next_master(&self) -> RawConnection {
        let first = self.servers[0].port();
        eventually("another master", SETTLES_WITHIN, async || {
            let mut port = None;
            for sentinel in &self.sentinels {
                let named = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME];
                let (_, named): (String, u16) = sentinel.raw.try_run(&named).await.ok()?;
                if named == first || *port.get_or_insert(named) != named {
                    return None;
                }
            }
            let server = self.servers.iter().find(|server| Some(server.port()) == port)?;
            let role: String = server.raw().try_run(&["INFO", "replication"]).await.ok()?;
            role.contains("role:master").then(|| server.raw())
        })
        .await
    }

    async fn settled(&self) {
        for sentinel in &self.sentinels {
            eventually("a Sentinel knows all", SETTLES_WITHIN, async || sentinel.knows_all().await)
                .await;
        }
        replica_progress::follow(&self.servers[0].raw(), 2).await;
    }
}

impl Sentinel {
    async fn start(binary: &PathBuf, master: &str) -> Self {
        for _ in 0..10 {
            let folder = TempDir::with_prefix("grackle-sentinel-").expect("a temporary folder");
            let (port, file) = (free_port(), folder.path().join("sentinel.conf"));
            let settings = format!(
                "port {port}\nbind 127.0.0.1\ndir \"{}\"\nlogfile log\n\
                 sentinel monitor {NAME} 127.0.0.1 {master} 2\n\
                 sentinel down-after-milliseconds {NAME} 500\n\
                 sentinel failover-timeout {NAME} 3000\n\
                 sentinel parallel-syncs {NAME} 2\n",
                folder.path().display()
            );
            std::fs::write(&file, settings).expect("it can be written");
            let mut command = Command::new(binary);
            command.arg(&file).arg("--sentinel").stdout(Stdio::null()).stderr(Stdio::null());
            let mut process = Process::start(command, folder.path());
            let raw = RawConnection::new(&format!("redis://127.0.0.1:{port}"));
            if answers(&mut process, &raw).await {
                return Self { port, raw, _process: process, _folder: folder };
            }
        }
        panic!("no Sentinel starts");
    }

    async fn knows_all(&self) -> Option<()> {
        let ask = ["SENTINEL", "MASTER", NAME];
        let master: HashMap<String, String> = self.raw.try_run(&ask).await.ok()?;
        (master["num-slaves"] == "2" && master["num-other-sentinels"] == "2").then_some(())
    }
}
