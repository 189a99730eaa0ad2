//! A Grackle server as it is run in earnest: the binary, in a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::eventually::eventually;
use super::process::Process;
use super::process_clock::ProcessClock;
use super::server_binary;
use super::test_redis::TestRedis;

const STARTS_WITHIN: Duration = Duration::from_secs(20);
const ANNOUNCES: &str = "listening on ";

/// A server to stop, kill or freeze.
pub struct ServerProcess {
    url: String,
    process: Process,
    folder: TempDir,
}

impl ServerProcess {
    /// On that Redis, under its prefix; `flags` such as `["--drain-seconds", "1"]` come on top.
    pub async fn start(redis: &TestRedis, flags: &[&str]) -> Self {
        Self::start_at(redis.url(), redis, flags).await
    }

    /// The same, reaching Redis at another address, such as that of a link.
    pub async fn start_at(redis_url: &str, redis: &TestRedis, flags: &[&str]) -> Self {
        Self::start_by(None, redis_url, redis, flags).await
    }

    /// The same, by that clock.
    pub async fn start_by(
        clock: Option<&ProcessClock>,
        redis_url: &str,
        redis: &TestRedis,
        flags: &[&str],
    ) -> Self {
        let on_redis = ["--redis-url", redis_url, "--key-prefix", redis.prefix()];
        Self::launched(clock, &[&on_redis, flags].concat()).await
    }

    /// With these flags only; its working folder is one of its own.
    pub async fn start_alone(flags: &[&str]) -> Self {
        Self::launched(None, flags).await
    }

    async fn launched(clock: Option<&ProcessClock>, flags: &[&str]) -> Self {
        let folder = TempDir::with_prefix("grackle-server-").expect("a temporary folder");
        let mut process = launch(&server_binary::path().await, clock, flags, folder.path());
        let url = eventually("the server listens", STARTS_WITHIN, async || {
            let ended = process.status();
            assert!(ended.is_none(), "the server ends: {}", log(folder.path()));
            announced(&log(folder.path()))
        });
        Self { url: url.await, process, folder }
    }

    /// The binary, for a test that only looks at how it ends.
    pub async fn binary() -> PathBuf {
        server_binary::path().await
    }

    /// `http://127.0.0.1:<port>`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All that it has logged.
    pub fn log(&self) -> String {
        log(self.folder.path())
    }

    /// SIGTERM, and until it has ended.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.process.terminate().await
    }

    /// For the other signals.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

fn launch(binary: &Path, clock: Option<&ProcessClock>, flags: &[&str], folder: &Path) -> Process {
    let log = std::fs::File::create(log_file(folder)).expect("a log");
    let mut command = Command::new(binary);
    if let Some(clock) = clock {
        clock.govern(&mut command);
    }
    command.args(["--listen", "127.0.0.1:0"]).args(flags);
    command.current_dir(folder).stdout(Stdio::null()).stderr(log);
    Process::start(command, folder)
}

fn announced(log: &str) -> Option<String> {
    let (_, rest) = log.split_once(ANNOUNCES)?;
    // A line that is still being written has no end; in JSON, the text has a quote there.
    let (url, _) = rest.split_once(['\n', '"'])?;
    Some(url.to_owned())
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(log_file(folder)).unwrap_or_default()
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("log")
}
