//! One server, from start to end.

use std::convert::Infallible;
use std::error::Error as _;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use grackle_client::{Client, ConnectionError, ConnectionFault, Error};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::config::redis_url::masked;
use crate::connections::{self, TimeLimits};
use crate::embedded_redis::{EmbeddedRedis, EmbeddedRedisError};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::{http, openapi};

/// How long Redis may take to answer at the start, where an operator waits for the verdict.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Why a server could not start; each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting is out of its range.
    #[error("--{flag}: {reason}")]
    Setting {
        /// The flag's name, without its dashes.
        flag: String,
        /// What it must be.
        reason: String,
    },
    /// The Redis that was given does not answer.
    #[error(
        "cannot use the Redis at {url}: {reason}; check --redis-url (GRACKLE_REDIS_URL) and that \
         Redis runs there, or leave it out to run a private one"
    )]
    Redis {
        /// The URL without its secrets.
        url: String,
        /// What the client reported.
        reason: String,
    },
    /// The client failed otherwise.
    #[error(transparent)]
    Client(Error),
    /// The private Redis did not come up.
    #[error(transparent)]
    Embedded(#[from] EmbeddedRedisError),
}

/// Serves on `listener` until `shutdown` completes, then until the calls in flight are answered.
///
/// Callers that wait in a queue are answered Unavailable at once and keep their places; other
/// calls get [`Config::drain_seconds`]. The private Redis, if there is one, ends last.
/// [`Config::listen`] and the log settings are the binary's affair: they are not looked at.
///
/// # Errors
///
/// [`StartError`], and only before the first connection is accepted.
///
/// # Cancel safety
///
/// Dropping the future closes every connection at once; a private Redis then stops by itself.
pub async fn run(
    config: Config,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), StartError> {
    let stop = CancellationToken::new();
    // Boxed: its type, all futures down to Redis, is too deep for the compiler to lay out inline.
    let serving: Serving<'_> = Box::pin(start_and_serve(&config, listener, &stop));
    let stopper = async {
        shutdown.await;
        tracing::info!("stopping");
        stop.cancel();
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        ended = serving => ended,
        never = stopper => match never {},
    }
}

type Serving<'a> = Pin<Box<dyn Future<Output = Result<(), StartError>> + Send + 'a>>;

async fn start_and_serve(
    config: &Config,
    listener: TcpListener,
    stop: &CancellationToken,
) -> Result<(), StartError> {
    config.client("").validate().map_err(setting)?;
    if let Some(url) = &config.redis_url {
        return serve(config, url, listener, stop).await;
    }
    let start = EmbeddedRedis::start(&config.data_dir);
    let Some(redis) = stop.run_until_cancelled(start).await.transpose()? else {
        return Ok(());
    };
    let served = serve(config, redis.url(), listener, stop).await;
    redis.stop().await;
    served
}

async fn serve(
    config: &Config,
    url: &str,
    listener: TcpListener,
    stop: &CancellationToken,
) -> Result<(), StartError> {
    let connect = stop.run_until_cancelled(connect(config, url));
    let Some(client) = connect.await.transpose()? else {
        return Ok(());
    };
    let state = Arc::new(http::State {
        client: client.clone(),
        metrics: Metrics::new(),
        readiness: Readiness::default(),
        openapi: openapi::document(&config.limits.to_limits()).to_string(),
        metrics_semaphores: usize::from(config.metrics_semaphores),
        plain_namespace: config.http_semaphores_namespace.clone(),
        read_timeout: config.read_timeout(),
    });
    announce(&listener, url);
    let limits = TimeLimits { idle: config.idle_timeout(), drain: config.drain() };
    let router = http::router(Arc::clone(&state));
    let served = async {
        let listening = connections::serve(listener, router, limits, stop.clone());
        tokio::join!(listening, park_waiters(&client, stop), sweep(&client));
        // Again, for calls whose connections were cut off at last.
        client.shutdown().await;
    };
    tokio::select! {
        () = served => {}
        () = state.metrics.upkeep() => {}
    }
    Ok(())
}

async fn connect(config: &Config, url: &str) -> Result<Client, StartError> {
    let connect = Client::connect_with(config.client(url));
    match tokio::time::timeout(CONNECT_WITHIN, connect).await {
        Ok(connected) => connected.map_err(|error| unusable(url, error)),
        Err(_) => Err(StartError::Redis {
            url: masked(url),
            reason: format!("no answer within {CONNECT_WITHIN:?}"),
        }),
    }
}

/// The error of the connection, without the client's own advice.
fn unusable(url: &str, error: Error) -> StartError {
    let Some(source) = error.source() else { return setting(error) };
    let connection = source.downcast_ref::<ConnectionError>();
    // What answered may not be Redis, and may have sent anything.
    let told = connection.map_or_else(|| error.to_string(), ToString::to_string);
    let told = told.lines().collect::<Vec<_>>().join(" ");
    let advice = advice(url, connection.map(ConnectionError::fault));
    StartError::Redis { url: masked(url), reason: told + advice }
}

/// What to do where the fault tells, and where one side seems to use TLS and the other does not.
fn advice(url: &str, fault: Option<ConnectionFault>) -> &'static str {
    let uses_tls = url.split_once("://").map(|(scheme, _)| scheme.starts_with("rediss"));
    match (uses_tls, fault) {
        (_, Some(ConnectionFault::NoRights)) => {
            ", so give this user the rights that docs/running.md lists"
        }
        (Some(true), Some(ConnectionFault::Certificate)) => {
            ", so name its authority's certificate by --tls-ca-file"
        }
        (Some(true), _) => " over TLS (if its port is a plain one, the URL begins with redis://)",
        (Some(false), Some(ConnectionFault::Closed)) => {
            " (if its port speaks TLS, the URL begins with rediss://)"
        }
        _ => "",
    }
}

async fn park_waiters(client: &Client, stop: &CancellationToken) {
    stop.cancelled().await;
    client.shutdown().await;
}

/// Ends what expired while no server was running.
async fn sweep(client: &Client) {
    if let Err(error) = client.sweep_all().await {
        tracing::warn!(%error, "could not list the namespaces; what has expired there is ended by the next calls");
    }
}

fn announce(listener: &TcpListener, url: &str) {
    tracing::info!("using the Redis at {}", masked(url));
    match listener.local_addr() {
        Ok(address) => tracing::info!("listening on http://{address}"),
        Err(error) => tracing::warn!(%error, "listening, but the address cannot be read"),
    }
}

fn setting(error: Error) -> StartError {
    match error {
        Error::InvalidField { field, reason } => {
            StartError::Setting { flag: field.replace('_', "-"), reason }
        }
        other => StartError::Client(other),
    }
}
