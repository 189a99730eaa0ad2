//! The binary, in a process of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, Command};

pub(crate) struct Binary {
    pub(crate) address: String,
    pub(crate) child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grackle-server"));
    command.args(args).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

/// Runs it to its end: how it ended, and all that it said.
pub(crate) async fn fails(
    folder: &Path,
    args: &[&str],
    path: Option<&OsStr>,
) -> (ExitStatus, String) {
    let mut command = command(folder, args);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    (child.wait().await.unwrap(), said)
}

impl Binary {
    /// In a process group of its own, on its embedded Redis; returns once it listens.
    pub(crate) async fn start(folder: &Path, args: &[&str]) -> Self {
        let args = [&["--listen", "127.0.0.1:0"], args].concat();
        let mut child = command(folder, &args).process_group(0).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = String::new();
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, address)) = line.split_once("listening on http://") {
                let address = address.trim_matches(|c: char| !c.is_ascii_digit()).to_owned();
                return Self { address, child, log };
            }
            said.push_str(&line);
        }
        panic!("it ended: {said}");
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// How it ended, and what it said since it listened.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let mut said = String::new();
        while let Some(line) = self.log.next_line().await.unwrap() {
            said.push_str(&line);
            said.push('\n');
        }
        (self.child.wait().await.unwrap(), said)
    }
}

pub(crate) fn socket(folder: &Path) -> PathBuf {
    folder.join("grackle-data/redis.sock")
}

/// Of the private Redis, which owns the socket.
pub(crate) async fn redis_pid(folder: &Path) -> Pid {
    let stream = UnixStream::connect(socket(folder)).await.unwrap();
    Pid::from_raw(stream.peer_cred().unwrap().pid().unwrap()).unwrap()
}
