//! Which Redis server has a namespace, and how it is reached.
//!
//! There is one, or the one that Sentinels call the master, or, in a cluster, that which owns the
//! namespace's slot: the servers say which by `MOVED`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use deadpool_redis::redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use deadpool_redis::redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisError, TlsCertificates,
    TlsMode,
};
use tokio::sync::Mutex;

use crate::config::Config;
use crate::error::Error;

const SENTINEL: &str = "sentinel";
const CLUSTER: &str = "cluster";
const UNIX: &str = "unix";

/// A server, as far as it matters which: its address in a cluster, else nothing.
pub(crate) type Address = String;

pub(crate) struct Servers {
    kind: Kind,
    certificates: Option<TlsCertificates>,
}

enum Kind {
    One(ConnectionInfo),
    Sentinel(Mutex<SentinelClient>),
    Cluster(Cluster),
}

struct Cluster {
    seeds: Vec<ConnectionInfo>,
    /// By namespace, as its server said.
    owners: RwLock<Owners>,
}

#[derive(Default)]
struct Owners {
    by_namespace: HashMap<String, Address>,
    /// Servers that others named, beside the seeds.
    others: Vec<Address>,
    /// Which of all is asked about a namespace that no server has spoken of.
    turn: usize,
}

impl Servers {
    /// Reads the URL, without connecting.
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let certificates = config.tls_ca_file.as_deref().map(read_certificates).transpose()?;
        let kind = Kind::parse(&config.redis_url, certificates.as_ref())?;
        Ok(Self { kind, certificates })
    }

    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.kind, Kind::Cluster(_))
    }

    /// The server that has a namespace, as far as is known.
    pub(crate) fn address(&self, namespace: &str) -> Address {
        let Kind::Cluster(cluster) = &self.kind else {
            return Address::new();
        };
        let owners = cluster.owners.read().unwrap_or_else(PoisonError::into_inner);
        let known = owners.by_namespace.get(namespace).cloned();
        known.unwrap_or_else(|| cluster.next(&owners))
    }

    /// How many there are to ask where one can't be reached.
    pub(crate) fn count(&self) -> usize {
        let Kind::Cluster(cluster) = &self.kind else {
            return 1;
        };
        let owners = cluster.owners.read().unwrap_or_else(PoisonError::into_inner);
        cluster.seeds.len() + owners.others.len()
    }

    /// All that are known.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        let Kind::Cluster(cluster) = &self.kind else {
            return vec![Address::new()];
        };
        let owners = cluster.owners.read().unwrap_or_else(PoisonError::into_inner);
        let seeds = cluster.seeds.iter().map(|seed| seed.addr().to_string());
        seeds.chain(owners.others.iter().cloned()).collect()
    }

    /// Is the address that of a server itself, and not of those who know which is the master?
    pub(crate) fn is_one(&self) -> bool {
        matches!(self.kind, Kind::One(_))
    }

    /// A server said that another has the namespace. True where that is news.
    pub(crate) fn moved(&self, namespace: &str, to: &str) -> bool {
        let Kind::Cluster(cluster) = &self.kind else {
            return false;
        };
        let mut owners = cluster.owners.write().unwrap_or_else(PoisonError::into_inner);
        cluster.note(&mut owners, to);
        let before = owners.by_namespace.insert(namespace.to_owned(), to.to_owned());
        before.as_deref() != Some(to)
    }

    /// A server answered for the namespace: it has it. True where nobody had said so.
    pub(crate) fn serves(&self, namespace: &str, address: &str) -> bool {
        let Kind::Cluster(cluster) = &self.kind else {
            return false;
        };
        let owners = cluster.owners.read().unwrap_or_else(PoisonError::into_inner);
        // An answer may be older than what another server said since.
        if owners.by_namespace.contains_key(namespace) {
            return false;
        }
        drop(owners);
        self.moved(namespace, address)
    }

    /// The server could not be reached: ask another who has the namespace now.
    pub(crate) fn unreachable(&self, namespace: &str, address: &str) {
        if let Kind::Cluster(cluster) = &self.kind {
            let mut owners = cluster.owners.write().unwrap_or_else(PoisonError::into_inner);
            owners.by_namespace.remove(namespace);
            // Named again when it is back.
            owners.others.retain(|other| other != address);
            owners.turn += 1;
        }
    }

    /// How to connect to a server.
    pub(crate) async fn client(&self, address: &str) -> Result<Client, RedisError> {
        match &self.kind {
            Kind::One(info) => self.open(info.clone()),
            Kind::Sentinel(sentinel) => sentinel.lock().await.async_get_client().await,
            Kind::Cluster(cluster) => self.open(cluster.at(address)),
        }
    }

    fn open(&self, info: ConnectionInfo) -> Result<Client, RedisError> {
        let tls = matches!(info.addr(), ConnectionAddr::TcpTls { .. });
        match &self.certificates {
            Some(certificates) if tls => Client::build_with_tls(info, certificates.clone()),
            _ => Client::open(info),
        }
    }
}

impl Cluster {
    fn next(&self, owners: &Owners) -> Address {
        let turn = owners.turn % (self.seeds.len() + owners.others.len());
        match self.seeds.get(turn) {
            Some(seed) => seed.addr().to_string(),
            None => owners.others[turn - self.seeds.len()].clone(),
        }
    }

    fn note(&self, owners: &mut Owners, address: &str) {
        let is_seed = self.seeds.iter().any(|seed| seed.addr().to_string() == address);
        if !is_seed && !owners.others.iter().any(|other| other == address) {
            owners.others.push(address.to_owned());
        }
    }

    /// The settings of the first seed, at another address.
    fn at(&self, address: &str) -> ConnectionInfo {
        let seed = &self.seeds[0];
        let Some((host, port)) = split_address(address) else {
            return seed.clone();
        };
        seed.clone().set_addr(match seed.addr() {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            _ => ConnectionAddr::Tcp(host, port),
        })
    }
}

impl Kind {
    fn parse(url: &str, certificates: Option<&TlsCertificates>) -> Result<Self, Error> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(bad_url("it has no scheme"));
        };
        let (base, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
        // A socket's path leaves no other room for user and database. Elsewhere they would be
        // passed over without a word.
        if kind != UNIX && base != UNIX && rest.contains(['?', '#']) {
            return Err(bad_url("it has options (? and # are written %3F and %23)"));
        }
        match kind {
            SENTINEL => Self::sentinel(base, rest, certificates),
            CLUSTER => {
                let (user, hosts, path) = parts(rest);
                let seeds = infos(base, user, hosts, path)?;
                Ok(Self::Cluster(Cluster { seeds, owners: RwLock::default() }))
            }
            _ => Ok(Self::One(info(url)?)),
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

/// `host:port`; a host may be an IPv6 address.
fn split_address(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), port.parse().ok()?))
}

fn read_certificates(path: &Path) -> Result<TlsCertificates, Error> {
    let root = std::fs::read(path).map_err(|error| Error::InvalidField {
        field: "tls_ca_file",
        reason: format!("{}: {error}", path.display()),
    })?;
    Ok(TlsCertificates { client_tls: None, root_cert: Some(root) })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(url: &str) -> Result<Servers, Error> {
        Servers::new(&Config::new(url))
    }

    #[test]
    fn a_url_tells_how_redis_is_laid_out() {
        for url in
            ["redis://h", "rediss://u:p@h:1/2", "redis+unix:///a/b", "redis+sentinel://h:1,i:2/m"]
        {
            let servers = servers(url).unwrap();
            assert!(!servers.is_cluster());
            assert_eq!(servers.address("ns"), "", "{url}");
        }
        assert!(servers("redis+cluster://h:1,i:2").unwrap().is_cluster());
    }

    #[test]
    fn a_wrong_url_is_named() {
        for url in ["", "h:1", "http://h", "redis+sentinel://h:1", "redis://h:port"] {
            let Err(error) = servers(url) else { panic!("{url}") };
            assert!(error.to_string().starts_with("redis_url: "), "{error}");
        }
    }

    #[test]
    fn a_cluster_learns_who_has_a_namespace_and_asks_the_others_when_that_one_is_gone() {
        let servers = servers("redis+cluster://u:p@a:1,b:2").unwrap();
        assert_eq!(servers.address("ns"), "a:1");
        assert!(servers.moved("ns", "c:3"));
        assert!(!servers.moved("ns", "c:3"), "no news");
        assert_eq!((servers.address("ns"), servers.address("other")), ("c:3".into(), "a:1".into()));
        servers.unreachable("ns", "c:3");
        assert_eq!((servers.address("ns"), servers.count()), ("b:2".into(), 2));
        assert!(servers.serves("ns", "b:2"), "nobody had said so");
        assert!(!servers.serves("ns", "a:1"), "an old answer");
        assert_eq!(servers.address("ns"), "b:2");
    }

    #[test]
    fn a_server_that_others_named_is_asked_when_the_seeds_are_gone() {
        let servers = servers("redis+cluster://a:1").unwrap();
        assert!(servers.moved("ns", "b:2") && servers.moved("other", "c:3"));
        servers.unreachable("ns", "b:2");
        let asked = [(); 2].map(|()| {
            let address = servers.address("ns");
            servers.unreachable("ns", "a:1");
            address
        });
        assert!(asked.contains(&"c:3".to_owned()), "{asked:?}");
    }

    #[test]
    fn an_address_may_be_ipv6() {
        assert_eq!(split_address("::1:7000"), Some(("::1".to_owned(), 7000)));
        assert_eq!(split_address("[::1]:7000"), Some(("::1".to_owned(), 7000)));
        assert_eq!(split_address("nonsense"), None);
    }
}
