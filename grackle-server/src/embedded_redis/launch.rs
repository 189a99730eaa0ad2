//! How the child is started: the same way at first and after every death.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::data_dir::DataDir;
use super::error::EmbeddedRedisError;
use super::probe;
use super::process::{self, Process};
use super::socket::Socket;

pub(super) struct Launch {
    binary: PathBuf,
    data_dir: DataDir,
    socket: Socket,
}

impl Launch {
    pub(super) fn prepare(binary: PathBuf, data_dir: DataDir) -> Result<Self, EmbeddedRedisError> {
        let place = Socket::place(data_dir.path());
        let socket = place.map_err(EmbeddedRedisError::at(data_dir.path()))?;
        Ok(Self { binary, data_dir, socket })
    }

    pub(super) fn socket(&self) -> &Path {
        self.socket.path()
    }

    pub(super) fn log(&self) -> PathBuf {
        self.data_dir.path().join("redis.log")
    }

    /// Starts it; it has its data still to load.
    pub(super) fn spawn(&self) -> Result<Process, EmbeddedRedisError> {
        let log = self.open_log().map_err(EmbeddedRedisError::at(self.log()))?;
        Process::spawn(self.command(), log).map_err(|source| self.failed(source))
    }

    /// Waits until its data is loaded.
    pub(super) async fn ready(&self, process: &mut Process) -> Result<(), EmbeddedRedisError> {
        let status = tokio::select! {
            () = probe::ready(self.socket()) => return Ok(()),
            status = process.ended() => status.map_err(|source| self.failed(source))?,
        };
        Err(EmbeddedRedisError::Ended {
            binary: self.binary.clone(),
            status,
            last_words: process::last_line(&self.log()),
            log: self.log(),
        })
    }

    fn failed(&self, source: io::Error) -> EmbeddedRedisError {
        EmbeddedRedisError::Spawn { binary: self.binary.clone(), source }
    }

    /// What it says before it has read its own arguments goes to the same log.
    fn open_log(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.log())
    }

    fn command(&self) -> Command {
        let mut command = process::bound_to_us(&self.binary);
        command
            .args(["--port", "0", "--unixsocketperm", "700", "--daemonize", "no"])
            .args(["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""])
            .args(["--maxmemory-policy", "noeviction"])
            .arg("--unixsocket")
            .arg(self.socket())
            .arg("--dir")
            .arg(self.data_dir.path());
        command
    }
}
