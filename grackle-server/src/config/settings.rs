//! Flags and environment variables, in the same names, with their defaults.

use std::path::PathBuf;
use std::time::Duration;

use grackle_client::{OnDrop, ReplicaAcks};
use tracing::level_filters::LevelFilter;

use super::limits::LimitArgs;

/// Settings of a server; [`Config::default`] holds the defaults of every flag.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "grackle-server", version, about, max_term_width = 100)]
#[non_exhaustive]
pub struct Config {
    /// Address and port to listen on, for HTTP/1.1 and HTTP/2
    #[arg(long, env = "GRACKLE_LISTEN", default_value_t = Config::default().listen)]
    pub listen: String,

    /// Redis or Valkey to use, e.g. redis://user:password@host:6379/0, rediss://… with TLS,
    /// redis+unix:///path, redis+sentinel://host:26379,…/MASTER, redis+cluster://host:6379,…;
    /// without it a private one runs on --data-dir
    #[arg(long, env = "GRACKLE_REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<String>,

    /// Certificates to trust instead of the system's, in PEM, where --redis-url is rediss://…
    #[arg(long, env = "GRACKLE_TLS_CA_FILE", value_name = "FILE")]
    pub tls_ca_file: Option<PathBuf>,

    /// Folder of the private Redis' append-only file, log and socket
    #[arg(long, env = "GRACKLE_DATA_DIR", default_value_os_t = Config::default().data_dir)]
    pub data_dir: PathBuf,

    /// What every key in Redis begins with
    #[arg(long, env = "GRACKLE_KEY_PREFIX", default_value_t = Config::default().key_prefix)]
    pub key_prefix: String,

    /// Namespace of the plain semaphores of /semaphore
    #[arg(long, env = "GRACKLE_HTTP_SEMAPHORES_NAMESPACE", value_name = "NAME",
          value_parser = namespace,
          default_value_t = Config::default().http_semaphores_namespace)]
    pub http_semaphores_namespace: String,

    /// How long a waiter keeps its place after its caller hung up; 0: it leaves at once
    #[arg(long, env = "GRACKLE_HANG_UP_GRACE_SECONDS", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(0..=86_400),
          default_value_t = Config::default().hang_up_grace_seconds)]
    pub hang_up_grace_seconds: u64,

    /// Replicas that a grant waits for, up to --ack-within-ms; the answer says in acked_replicas how
    /// many have it. 0: none
    #[arg(long, env = "GRACKLE_ACK_REPLICAS", value_name = "N",
          default_value_t = Config::default().ack_replicas)]
    pub ack_replicas: u32,

    /// How long a granted call waits for --ack-replicas, on top of its own timeout
    #[arg(long, env = "GRACKLE_ACK_WITHIN_MS", value_name = "MILLISECONDS",
          value_parser = clap::value_parser!(u64).range(1..=60_000),
          default_value_t = Config::default().ack_within_ms)]
    pub ack_within_ms: u64,

    /// How long a request's body may take to arrive
    #[arg(long, env = "GRACKLE_READ_TIMEOUT_SECONDS", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=3_600),
          default_value_t = Config::default().read_timeout_seconds)]
    pub read_timeout_seconds: u64,

    /// How long a connection may take to send a request's head, or stay idle
    #[arg(long, env = "GRACKLE_IDLE_TIMEOUT_SECONDS", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400),
          default_value_t = Config::default().idle_timeout_seconds)]
    pub idle_timeout_seconds: u64,

    /// How long calls in flight may go on after SIGTERM; those that wait are answered at once
    #[arg(long, env = "GRACKLE_DRAIN_SECONDS", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(0..=3_600),
          default_value_t = Config::default().drain_seconds)]
    pub drain_seconds: u64,

    /// Semaphores that /metrics shows, the busiest: convoys, then by the longest queue
    #[arg(long, env = "GRACKLE_METRICS_SEMAPHORES", value_name = "N",
          value_parser = clap::value_parser!(u16).range(0..=1_000),
          default_value_t = Config::default().metrics_semaphores)]
    pub metrics_semaphores: u16,

    /// Form of the log on standard error
    #[arg(long, env = "GRACKLE_LOG_FORMAT", value_enum, default_value_t = Config::default().log_format)]
    pub log_format: LogFormat,

    /// Least level to log: error, warn, info, debug or trace
    #[arg(long, env = "GRACKLE_LOG_LEVEL", value_name = "LEVEL",
          default_value_t = Config::default().log_level)]
    pub log_level: LevelFilter,

    /// The most that there may be of everything
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8000".to_owned(),
            redis_url: None,
            tls_ca_file: None,
            data_dir: PathBuf::from("./grackle-data"),
            key_prefix: grackle_client::Config::new("").key_prefix,
            http_semaphores_namespace: "http".to_owned(),
            hang_up_grace_seconds: 10,
            ack_replicas: 0,
            ack_within_ms: 1_000,
            read_timeout_seconds: 30,
            idle_timeout_seconds: 75,
            drain_seconds: 5,
            metrics_semaphores: 20,
            log_format: LogFormat::Text,
            log_level: LevelFilter::INFO,
            limits: LimitArgs::default(),
        }
    }
}

impl Config {
    /// What the client of the Redis at `url` is told.
    pub(crate) fn client(&self, url: &str) -> grackle_client::Config {
        let mut client = grackle_client::Config::new(url);
        client.key_prefix.clone_from(&self.key_prefix);
        client.tls_ca_file.clone_from(&self.tls_ca_file);
        client.limits = self.limits.to_limits();
        client.on_drop = match self.hang_up_grace_seconds {
            0 => OnDrop::Leave,
            seconds => OnDrop::Park(Duration::from_secs(seconds)),
        };
        let within = Duration::from_millis(self.ack_within_ms);
        client.replica_acks =
            (self.ack_replicas > 0).then(|| ReplicaAcks::new(self.ack_replicas, within));
        client
    }

    pub(crate) fn read_timeout(&self) -> Duration {
        Duration::from_secs(self.read_timeout_seconds)
    }

    pub(crate) fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_seconds)
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }
}

/// A namespace's name, by the rule for all.
fn namespace(name: &str) -> Result<String, String> {
    let refused = || "1–128 of A-Z a-z 0-9 _ -".to_owned();
    grackle_client::is_name(name).then(|| name.to_owned()).ok_or_else(refused)
}

#[cfg(test)]
mod tests;
