//! A Redis (or Valkey) server of the tests' own, as a child process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::eventually::eventually;
use super::port::free_port;
use super::process::Process;
use super::process_clock::ProcessClock;
use crate::raw_connection::RawConnection;

/// A binary to take instead of the one on PATH.
const BINARY: &str = "GRACKLE_TEST_REDIS_BINARY";
const BINARIES: [&str; 2] = ["valkey-server", "redis-server"];
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// A server on a free port of the loopback, with a folder that goes when it goes.
pub struct RedisServer {
    binary: PathBuf,
    options: Vec<String>,
    clock: Option<ProcessClock>,
    port: u16,
    process: Process,
    folder: TempDir,
}

impl RedisServer {
    /// The binary that `GRACKLE_TEST_REDIS_BINARY` names, else the one on PATH, if there is one.
    pub fn binary() -> Option<PathBuf> {
        if let Some(named) = std::env::var_os(BINARY) {
            return Some(named.into());
        }
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let candidates = BINARIES.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
        candidates.into_iter().find(|candidate| candidate.is_file())
    }

    /// The same, where there has to be one.
    pub fn needed() -> PathBuf {
        Self::binary().expect(
            "this test needs a Redis to itself: put valkey-server or redis-server (6.2 or newer) \
             on PATH",
        )
    }

    /// Whether the binary was built with TLS: then it ends because it has no certificate.
    pub fn has_tls(binary: &Path) -> bool {
        let port = free_port().to_string();
        let output = Command::new(binary).args(["--port", "0", "--tls-port", &port]).output();
        let output = output.expect("it runs");
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).contains("tls-cert-file configured")
    }

    /// Starts `binary`; it keeps nothing on disk unless the options (`--appendonly yes`) say so.
    pub async fn start(binary: PathBuf, options: &[&str]) -> Self {
        Self::start_by(binary, options, None).await
    }

    /// The same, by that clock.
    pub async fn start_by(binary: PathBuf, options: &[&str], clock: Option<ProcessClock>) -> Self {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let folder = TempDir::with_prefix("grackle-redis-").expect("a temporary folder");
        for _ in 0..10 {
            let port = free_port();
            let mut process = launch(&binary, &options, clock.as_ref(), port, folder.path());
            if is_up(&mut process, port).await {
                return Self { binary, options, clock, port, process, folder };
            }
        }
        panic!("{} does not start:\n{}", binary.display(), log(folder.path()));
    }

    pub fn url(&self) -> String {
        url(self.port)
    }

    /// A plain connection.
    pub fn raw(&self) -> RawConnection {
        RawConnection::new(&self.url())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process; to end it for good is to drop the server.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Starts it again, on the same port and folder, after it has ended.
    pub async fn start_again(&mut self) {
        let (options, clock) = (&self.options, self.clock.as_ref());
        self.process = launch(&self.binary, options, clock, self.port, self.folder.path());
        let up = is_up(&mut self.process, self.port).await;
        assert!(up, "Redis does not start again:\n{}", log(self.folder.path()));
    }

    /// SIGTERM: Redis writes out what it has to, and ends.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.process.terminate().await
    }
}

fn url(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

fn launch(
    binary: &Path,
    options: &[String],
    clock: Option<&ProcessClock>,
    port: u16,
    folder: &Path,
) -> Process {
    let mut command = Command::new(binary);
    if let Some(clock) = clock {
        clock.govern(&mut command);
    }
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    // The folder before the log: Redis 6.2 opens that where it is when it reads of it.
    command.args([OsStr::new("--dir"), folder.as_ref()]);
    command.args(["--save", "", "--appendonly", "no", "--logfile", "log"]).args(options);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Process::start(command, folder)
}

/// Whether that very process answers at `port`; false when it has ended, as when the port is taken.
async fn is_up(process: &mut Process, port: u16) -> bool {
    let raw = RawConnection::new(&url(port));
    answers(process, &raw).await
        && eventually("it is loaded", STARTS_WITHIN, async || is_loaded(&raw).await.then_some(true))
            .await
}

/// Whether that very process answers there; false when it has ended.
pub(crate) async fn answers(process: &mut Process, raw: &RawConnection) -> bool {
    eventually("Redis answers", STARTS_WITHIN, async || {
        if process.status().is_some() {
            return Some(false);
        }
        let info: String = raw.try_run(&["INFO", "server"]).await.ok()?;
        info.contains(&format!("process_id:{}\r", process.id())).then_some(true)
    })
    .await
}

/// INFO answers while the append-only file is being read; other commands don't.
async fn is_loaded(raw: &RawConnection) -> bool {
    raw.try_run::<i64>(&["DBSIZE"]).await.is_ok()
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}
