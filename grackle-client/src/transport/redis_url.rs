//! Reads a Redis URL: how the servers are laid out, and how they are reached.

use deadpool_redis::redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use deadpool_redis::redis::{
    ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisError, TlsCertificates, TlsMode,
};
use tokio::sync::Mutex;

use crate::error::Error;
use crate::transport::cluster::Cluster;

const SENTINEL: &str = "sentinel";
const CLUSTER: &str = "cluster";
const UNIX: &str = "unix";

/// The servers that a URL leads to.
pub(super) enum Layout {
    Single(ConnectionInfo),
    Sentinel(Mutex<SentinelClient>),
    Cluster(Cluster),
}

impl Layout {
    pub(super) fn parse(url: &str, certificates: Option<&TlsCertificates>) -> Result<Self, Error> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(bad_url("it has no scheme"));
        };
        let (base, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
        // Only the URL of a socket has options: its path leaves no other room for user and database.
        // Elsewhere the parser would ignore them silently.
        if kind != UNIX && base != UNIX && rest.contains(['?', '#']) {
            return Err(bad_url("it has options (? and # are written %3F and %23)"));
        }
        match kind {
            SENTINEL => Self::sentinel(base, rest, certificates),
            CLUSTER => {
                let (user, hosts, path) = parts(rest);
                let seeds = infos(base, user, hosts, path)?;
                Ok(Self::Cluster(Cluster::new(seeds)))
            }
            _ => Ok(Self::Single(info(url)?)),
        }
    }

    /// `redis+sentinel://[user:password@]host:port,…/<master>[/<db>]`; user and password are the
    /// master's.
    fn sentinel(
        base: &str,
        rest: &str,
        certificates: Option<&TlsCertificates>,
    ) -> Result<Self, Error> {
        let (user, hosts, path) = parts(rest);
        let (service, db) = path.split_once('/').unwrap_or((path, ""));
        if service.is_empty() {
            return Err(bad_url("it names no master: redis+sentinel://host:port,…/<master>"));
        }
        let sentinels = infos(base, "", hosts, "")?;
        let master = info(&format!("{base}://{user}localhost/{db}"))?;
        let addresses = sentinels.iter().map(|sentinel| sentinel.addr().clone());
        let client = builder(addresses, service, &master, certificates);
        let client = client.and_then(SentinelClientBuilder::build);
        client.map(|client| Self::Sentinel(Mutex::new(client))).map_err(|error| wrong_url(&error))
    }
}

fn builder(
    sentinels: impl Iterator<Item = ConnectionAddr>,
    service: &str,
    master: &ConnectionInfo,
    certificates: Option<&TlsCertificates>,
) -> Result<SentinelClientBuilder, RedisError> {
    let mut builder = SentinelClientBuilder::new(sentinels, service, SentinelServerType::Master)?;
    let settings = master.redis_settings();
    builder = builder.set_client_to_redis_db(settings.db());
    if let Some(user) = settings.username() {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = settings.password() {
        builder = builder.set_client_to_redis_password(password);
    }
    if let ConnectionAddr::TcpTls { insecure, .. } = master.addr() {
        let mode = if *insecure { TlsMode::Insecure } else { TlsMode::Secure };
        builder = builder.set_client_to_redis_tls_mode(mode);
        if let Some(certificates) = certificates {
            builder = builder
                .set_client_to_sentinel_certificates(certificates.clone())
                .set_client_to_redis_certificates(certificates.clone());
        }
    }
    Ok(builder)
}

/// `user:password@`, `host:port,…`, and what follows the slash.
fn parts(rest: &str) -> (&str, &str, &str) {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let hosts = authority.rfind('@').map_or(0, |at| at + 1);
    (&authority[..hosts], &authority[hosts..], path)
}

fn infos(base: &str, user: &str, hosts: &str, path: &str) -> Result<Vec<ConnectionInfo>, Error> {
    hosts.split(',').map(|host| info(&format!("{base}://{user}{host}/{path}"))).collect()
}

fn info(url: &str) -> Result<ConnectionInfo, Error> {
    url.into_connection_info().map_err(|error| wrong_url(&error))
}

fn wrong_url(error: &RedisError) -> Error {
    bad_url(&error.to_string())
}

fn bad_url(what: &str) -> Error {
    Error::InvalidField {
        field: "redis_url",
        reason: format!(
            "{what}; give redis[s]://[user:password@]host[:port][/db], redis+unix:///path, \
             redis[s]+sentinel://host:port,…/<master> or redis[s]+cluster://host:port,…"
        ),
    }
}
