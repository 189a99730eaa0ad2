//! Warnings about a Redis that may lose data.

use std::fmt;

/// Something about a Redis server that can break what Grackle promises. Its text says what it means
/// and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisWarning {
    /// The server, `host:port`; none where there is only one.
    pub server: Option<String>,
    /// The problem.
    pub kind: RedisWarningKind,
}

/// A problem of a Redis server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisWarningKind {
    /// It is a replica.
    Replica {
        /// Its master, `host:port`.
        of: String,
        /// It refuses writes; where it does not, it loses them when it follows its master again.
        read_only: bool,
    },
    /// It evicts keys when its memory is full. (Only policies that evict any key count: the
    /// `volatile` ones evict none of Grackle's keys, which have no TTL.)
    Evicts {
        /// `maxmemory`, in bytes.
        maxmemory: u64,
        /// `maxmemory-policy`.
        policy: String,
    },
    /// It has no append-only file.
    NotAppendOnly {
        /// Its setting `save`; none where the user may not read it.
        save_points: Option<String>,
    },
    /// It never syncs its append-only file to the disk.
    NeverSynced,
}

impl RedisWarning {
    /// Is the server unusable as it is?
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.kind, RedisWarningKind::Replica { read_only: true, .. })
    }
}

impl std::error::Error for RedisWarning {}

impl fmt::Display for RedisWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            None => write!(f, "Redis {}", self.kind),
            Some(server) => write!(f, "Redis at {server} {}", self.kind),
        }
    }
}

impl fmt::Display for RedisWarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replica { of, read_only: true } => {
                write!(
                    f,
                    "is a replica of {of} and can't be written; give the address of its master"
                )
            }
            Self::Replica { of, read_only: false } => write!(
                f,
                "is a replica of {of}, whose data replaces all that is written here when it follows \
                 anew; give the address of its master"
            ),
            Self::Evicts { maxmemory, policy } => write!(
                f,
                "evicts keys when it holds {maxmemory} bytes (maxmemory-policy {policy}), and with \
                 them holds that their owners believe in; set maxmemory-policy noeviction"
            ),
            Self::NotAppendOnly { save_points } => not_append_only(f, save_points.as_deref()),
            Self::NeverSynced => write!(
                f,
                "never syncs its append-only file (appendfsync no), so a crash of the machine loses \
                 what the system had not written yet, half a minute or so; set appendfsync everysec"
            ),
        }
    }
}

fn not_append_only(f: &mut fmt::Formatter<'_>, save_points: Option<&str>) -> fmt::Result {
    match save_points {
        Some("") => write!(f, "keeps nothing on disk, so a restart forgets every hold and lease")?,
        Some(points) => write!(
            f,
            "keeps snapshots only (save {points}), so a crash forgets every hold since the last one"
        )?,
        None => write!(
            f,
            "has no append-only file, so a crash forgets every hold since the last snapshot, or all \
             of them if it makes none (this user may not read whether it does)"
        )?,
    }
    write!(f, "; set appendonly yes")
}
