//! Which Redis server has a namespace, and how it is reached.
//!
//! There is one server, or the master that Sentinels name, or the servers of a cluster. In a cluster
//! the owner of a namespace's slot is learnt from `MOVED` answers.

use std::path::Path;

use deadpool_redis::redis::{Client, ConnectionAddr, ConnectionInfo, RedisError, TlsCertificates};

use crate::config::Config;
use crate::error::Error;
pub(crate) use crate::transport::cluster::Address;
use crate::transport::cluster::Cluster;
use crate::transport::redis_url::Layout;

pub(crate) struct Topology {
    layout: Layout,
    certificates: Option<TlsCertificates>,
}

impl Topology {
    /// Reads the URL, without connecting.
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let certificates = config.tls_ca_file.as_deref().map(read_certificates).transpose()?;
        let layout = Layout::parse(&config.redis_url, certificates.as_ref())?;
        Ok(Self { layout, certificates })
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.cluster().is_some()
    }

    /// Is there one server, named by the URL itself?
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.layout, Layout::Single(_))
    }

    /// The server that has a namespace, as far as is known.
    pub(crate) fn address(&self, namespace: &str) -> Address {
        self.cluster().map_or_else(Address::new, |cluster| cluster.owner(namespace))
    }

    /// The number of known servers.
    pub(crate) fn count(&self) -> usize {
        self.cluster().map_or(1, Cluster::count)
    }

    /// All known servers.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        self.cluster().map_or_else(|| vec![Address::new()], Cluster::addresses)
    }

    /// A server said that `to` has the namespace. True where that is news.
    pub(crate) fn moved(&self, namespace: &str, to: &str) -> bool {
        self.cluster().is_some_and(|cluster| cluster.moved(namespace, to))
    }

    /// A server answered for the namespace, so it has it. True where that was not known.
    pub(crate) fn serves(&self, namespace: &str, address: &str) -> bool {
        self.cluster().is_some_and(|cluster| cluster.serves(namespace, address))
    }

    /// The server could not be reached: another one is asked next.
    pub(crate) fn unreachable(&self, namespace: &str, address: &str) {
        if let Some(cluster) = self.cluster() {
            cluster.unreachable(namespace, address);
        }
    }

    /// How to connect to a server.
    pub(crate) async fn client(&self, address: &str) -> Result<Client, RedisError> {
        match &self.layout {
            Layout::Single(info) => self.open(info.clone()),
            Layout::Sentinel(sentinel) => sentinel.lock().await.async_get_client().await,
            Layout::Cluster(cluster) => self.open(cluster.connection_info(address)),
        }
    }

    fn cluster(&self) -> Option<&Cluster> {
        match &self.layout {
            Layout::Cluster(cluster) => Some(cluster),
            _ => None,
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

fn read_certificates(path: &Path) -> Result<TlsCertificates, Error> {
    let root = std::fs::read(path).map_err(|error| Error::InvalidField {
        field: "tls_ca_file",
        reason: format!("{}: {error}", path.display()),
    })?;
    Ok(TlsCertificates { client_tls: None, root_cert: Some(root) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(url: &str) -> Result<Topology, Error> {
        Topology::new(&Config::new(url))
    }

    #[test]
    fn a_url_tells_how_redis_is_laid_out() {
        for url in
            ["redis://h", "rediss://u:p@h:1/2", "redis+unix:///a/b", "redis+sentinel://h:1,i:2/m"]
        {
            let topology = topology(url).unwrap();
            assert!(!topology.is_cluster());
            assert_eq!(topology.address("ns"), "", "{url}");
        }
        assert!(topology("redis+cluster://h:1,i:2").unwrap().is_cluster());
    }

    #[test]
    fn a_wrong_url_is_named() {
        for url in ["", "h:1", "http://h", "redis+sentinel://h:1", "redis://h:port"] {
            let Err(error) = topology(url) else { panic!("{url}") };
            assert!(error.to_string().starts_with("redis_url: "), "{error}");
        }
    }

    #[test]
    fn a_cluster_learns_who_has_a_namespace_and_asks_the_others_when_that_one_is_gone() {
        let topology = topology("redis+cluster://u:p@a:1,b:2").unwrap();
        assert_eq!(topology.address("ns"), "a:1");
        assert!(topology.moved("ns", "c:3"));
        assert!(!topology.moved("ns", "c:3"), "no news");
        assert_eq!(
            (topology.address("ns"), topology.address("other")),
            ("c:3".into(), "a:1".into())
        );
        topology.unreachable("ns", "c:3");
        assert_eq!((topology.address("ns"), topology.count()), ("b:2".into(), 2));
        assert!(topology.serves("ns", "b:2"), "nobody had said so");
        assert!(!topology.serves("ns", "a:1"), "an old answer");
        assert_eq!(topology.address("ns"), "b:2");
    }

    #[test]
    fn a_server_that_others_named_is_asked_when_the_seeds_are_gone() {
        let topology = topology("redis+cluster://a:1").unwrap();
        assert!(topology.moved("ns", "b:2") && topology.moved("other", "c:3"));
        topology.unreachable("ns", "b:2");
        let asked = [(); 2].map(|()| {
            let address = topology.address("ns");
            topology.unreachable("ns", "a:1");
            address
        });
        assert!(asked.contains(&"c:3".to_owned()), "{asked:?}");
    }
}
