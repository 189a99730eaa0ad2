//! Why the private Redis can not run.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why the private Redis could not be started; each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedRedisError {
    /// Neither binary is on the machine.
    #[error(
        "no valkey-server or redis-server on PATH: get one (apt-get install redis-server, \
         dnf install valkey, brew install valkey), or give --redis-url (GRACKLE_REDIS_URL)"
    )]
    NoBinary,
    /// Another server runs on the data folder.
    #[error(
        "another grackle-server uses the data folder {0}: give this one another --data-dir, or \
         both the same --redis-url"
    )]
    InUse(PathBuf),
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}: {source}; give another --data-dir")]
    DataDir {
        /// The folder, or what in it was the matter.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// The binary cannot be run.
    #[error("cannot run {binary}: {source}")]
    Spawn {
        /// The program.
        binary: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("{binary} ended at once ({status}): {last_words} (more in {log})")]
    Ended {
        /// The program.
        binary: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The last line of its log.
        last_words: String,
        /// Its log.
        log: PathBuf,
    },
    /// The Redis of a server that was killed does not end.
    #[error("an earlier server's Redis (process {pid}) on this data folder does not end: stop it")]
    Orphan {
        /// Its process id.
        pid: i32,
    },
}

impl EmbeddedRedisError {
    /// For `map_err`: what the system reported about `path`.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::DataDir { path, source }
    }
}
