//! How a [`Client`](crate::Client) reaches Redis and what it allows.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;

/// Settings of a client; [`Config::new`] gives the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// Where Redis is:
    ///
    /// - `redis://[user:password@]host[:port][/db]`, or `rediss://…` with TLS;
    /// - `redis+unix:///path`, a Unix socket;
    /// - `redis+sentinel://[user:password@]host:port,…/<master>[/db]`, the Sentinels that watch a
    ///   master; user and password are the master's;
    /// - `redis+cluster://[user:password@]host:port,…`, some nodes of a cluster.
    pub redis_url: String,
    /// With `rediss`: a file of certificates to trust instead of the system's. Default none.
    pub tls_ca_file: Option<PathBuf>,
    /// What every key begins with: 1–64 of `A-Z a-z 0-9 _ - : .`. Default `grackle`.
    pub key_prefix: String,
    /// How long one attempt to connect may take. Default 4 s.
    pub connect_timeout: Duration,
    /// How long one command may take before its connection is given up. Default 3 s.
    pub command_timeout: Duration,
    /// How long a call is retried over lost connections before it ends as
    /// [`Error::Unavailable`]. Default 10 s.
    pub retry_for: Duration,
    /// What becomes of a waiter whose future is dropped. Default [`OnDrop::Leave`].
    pub on_drop: OnDrop,
    /// Whether a grant is answered only when replicas have it, or a time is over. Default none: it
    /// is answered at once.
    pub replica_acks: Option<ReplicaAcks>,
    /// The limits an operator sets.
    pub limits: Limits,
    #[doc(hidden)]
    pub test_clock: bool,
}

/// What becomes of a waiter whose future is dropped before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDrop {
    /// It leaves the queue at once.
    #[default]
    Leave,
    /// It is passed over but keeps its place for that long, in case the same lease asks again;
    /// what a server does with callers that hang up.
    Park(Duration),
}

/// Has an acquire, once granted, wait for replicas to have the hold, and say how many did:
/// [`acked_replicas`](crate::wire::AcquireSemaphoreResponse::acked_replicas).
///
/// A hold that every replica has survives a failover. With some of them it survives where one of
/// those takes over: Sentinel and Cluster prefer the replica that is furthest along. The user needs
/// the right `+wait`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplicaAcks {
    /// How many, at least 1. Fewer that follow the master make each grant take the whole time.
    pub replicas: u32,
    /// How long a granted call waits for them on top of its own timeout, 1 ms to 60 s; then it is
    /// answered with what is known by then. Redis ends a vain WAIT a tenth of a second late: under
    /// 300 ms, grants that come in quick succession may know of fewer replicas than have them.
    pub within: Duration,
}

impl ReplicaAcks {
    /// So many replicas, within that time.
    #[must_use]
    pub fn new(replicas: u32, within: Duration) -> Self {
        Self { replicas, within }
    }

    fn validate(&self) -> Result<(), Error> {
        if self.replicas == 0 {
            return Err(invalid("replica_acks", "replicas: at least 1, or none of it at all"));
        }
        let bounds = Duration::from_millis(1)..=Duration::from_secs(60);
        if !bounds.contains(&self.within) {
            return Err(invalid("replica_acks", "within: 1 ms to 60 s"));
        }
        Ok(())
    }
}

/// The most that there may be of everything; beyond: [`Error::ResourceExhausted`] or
/// [`Error::InvalidField`], naming the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest life of a lease, in seconds. Default 86,400.
    pub max_lease_ttl_seconds: i64,
    /// Longest wait of an acquire, in seconds. Default 3,600.
    pub max_acquire_timeout_seconds: i64,
    /// Namespaces under the key prefix. Default 100,000.
    ///
    /// Counted before the creation, in a step of its own: calls at the same moment may pass it.
    pub max_namespaces: u64,
    /// Semaphores a namespace. Default 1,000,000.
    pub max_semaphores: u64,
    /// Leases a namespace. Default 1,000,000.
    pub max_leases: u64,
    /// Holders a semaphore, counted when an acquire arrives; the queue is not held up by it.
    /// Default 100,000.
    pub max_holders: u64,
    /// Waiters a semaphore, beside its own `max_waiters`. Default 100,000.
    pub max_waiters: u64,
    /// Holds, and waits for one, a lease. Default 10,000.
    pub max_holds_per_lease: u64,
    /// Streams of [`watch_semaphore`](crate::Client::watch_semaphore) that are open through a client.
    /// Default 10,000.
    pub max_watches: u64,
    /// Semaphores of which a client keeps what it sees, some 2 kB each: those it saw last. Default 1,000.
    pub max_observed_semaphores: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_lease_ttl_seconds: 86_400,
            max_acquire_timeout_seconds: 3_600,
            max_namespaces: 100_000,
            max_semaphores: 1_000_000,
            max_leases: 1_000_000,
            max_holders: 100_000,
            max_waiters: 100_000,
            max_holds_per_lease: 10_000,
            max_watches: 10_000,
            max_observed_semaphores: 1_000,
        }
    }
}

impl Config {
    /// The defaults, for the Redis at `redis_url`.
    pub fn new(redis_url: impl Into<String>) -> Self {
        Self {
            redis_url: redis_url.into(),
            tls_ca_file: None,
            key_prefix: "grackle".to_owned(),
            connect_timeout: Duration::from_secs(4),
            command_timeout: Duration::from_secs(3),
            retry_for: Duration::from_secs(10),
            on_drop: OnDrop::default(),
            replica_acks: None,
            limits: Limits::default(),
            test_clock: false,
        }
    }

    /// Checks every setting.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidField`], naming the setting.
    pub fn validate(&self) -> Result<(), Error> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
        if !(1..=64).contains(&self.key_prefix.len()) || !self.key_prefix.chars().all(allowed) {
            return Err(invalid("key_prefix", "1–64 of A-Z a-z 0-9 _ - : ."));
        }
        for (field, duration) in
            [("connect_timeout", self.connect_timeout), ("command_timeout", self.command_timeout)]
        {
            if duration.is_zero() {
                return Err(invalid(field, "more than zero"));
            }
        }
        if self.retry_for > MAX_RETRY_FOR {
            return Err(invalid("retry_for", "at most 300 s: Redis does not remember older calls"));
        }
        self.replica_acks.as_ref().map_or(Ok(()), ReplicaAcks::validate)?;
        self.limits.validate()
    }
}

impl Limits {
    fn validate(&self) -> Result<(), Error> {
        let counts = [
            ("max_namespaces", self.max_namespaces),
            ("max_semaphores", self.max_semaphores),
            ("max_leases", self.max_leases),
            ("max_holders", self.max_holders),
            ("max_waiters", self.max_waiters),
            ("max_holds_per_lease", self.max_holds_per_lease),
            ("max_watches", self.max_watches),
            ("max_observed_semaphores", self.max_observed_semaphores),
        ];
        if let Some((field, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(invalid(field, "at least 1"));
        }
        let longest = MAX_SECONDS;
        for (field, seconds) in [
            ("max_lease_ttl_seconds", self.max_lease_ttl_seconds),
            ("max_acquire_timeout_seconds", self.max_acquire_timeout_seconds),
        ] {
            if !(1..=longest).contains(&seconds) {
                return Err(invalid(field, "1 to 315360000 (ten years)"));
            }
        }
        Ok(())
    }
}

/// The longest [`Config::retry_for`]: half as long as Redis remembers calls without a lease
/// (`REMEMBERED_FOR` in Lua), as the last retry may take as long again.
pub(crate) const MAX_RETRY_FOR: Duration = Duration::from_secs(300);

/// A node sweeps a namespace in which its calls wait at least that often. Each sweep renews its alive
/// mark there, which is valid for three times as long (`ALIVE_FOR` in Lua).
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// A node renews the mark of a semaphore that it watches that often. The mark is valid for three times as
/// long (`WATCHED_FOR` in Lua).
pub(crate) const RENEW_WATCH_EVERY: Duration = Duration::from_secs(10);

/// Ten years: keeps every time, in microseconds, far below 2^53.
const MAX_SECONDS: i64 = 315_360_000;

fn invalid(field: &'static str, reason: &str) -> Error {
    Error::InvalidField { field, reason: reason.to_owned() }
}
