//! Which server of a cluster has a namespace, as the servers themselves said.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use deadpool_redis::redis::{ConnectionAddr, ConnectionInfo};

/// The address of a server of a cluster, `host:port`; empty where there is only one server.
pub(crate) type Address = String;

pub(super) struct Cluster {
    seeds: Vec<ConnectionInfo>,
    owners: RwLock<Owners>,
}

#[derive(Default)]
struct Owners {
    by_namespace: HashMap<String, Address>,
    /// Servers that other servers named, beside the seeds.
    others: Vec<Address>,
    /// Which server is asked about a namespace whose owner is not known.
    turn: usize,
}

impl Cluster {
    pub(super) fn new(seeds: Vec<ConnectionInfo>) -> Self {
        Self { seeds, owners: RwLock::default() }
    }

    pub(super) fn owner(&self, namespace: &str) -> Address {
        let owners = self.read();
        let known = owners.by_namespace.get(namespace).cloned();
        known.unwrap_or_else(|| self.next(&owners))
    }

    pub(super) fn count(&self) -> usize {
        self.seeds.len() + self.read().others.len()
    }

    pub(super) fn addresses(&self) -> Vec<Address> {
        let seeds = self.seeds.iter().map(|seed| seed.addr().to_string());
        seeds.chain(self.read().others.iter().cloned()).collect()
    }

    /// True where that is news.
    pub(super) fn moved(&self, namespace: &str, to: &str) -> bool {
        let mut owners = self.write();
        self.note(&mut owners, to);
        let before = owners.by_namespace.insert(namespace.to_owned(), to.to_owned());
        before.as_deref() != Some(to)
    }

    /// True where that is news.
    pub(super) fn serves(&self, namespace: &str, address: &str) -> bool {
        // The answer may be older than what another server has said since.
        let known = self.read().by_namespace.contains_key(namespace);
        !known && self.moved(namespace, address)
    }

    pub(super) fn unreachable(&self, namespace: &str, address: &str) {
        let mut owners = self.write();
        owners.by_namespace.remove(namespace);
        // Others name it again when it is back.
        owners.others.retain(|other| other != address);
        owners.turn += 1;
    }

    fn read(&self) -> RwLockReadGuard<'_, Owners> {
        // Nothing panics while it holds the lock half-way through a change.
        self.owners.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Owners> {
        self.owners.write().unwrap_or_else(PoisonError::into_inner)
    }

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
    pub(super) fn connection_info(&self, address: &str) -> ConnectionInfo {
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

/// `host:port`; a host may be an IPv6 address.
fn split_address(address: &str) -> Option<(String, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_ipv6() {
        assert_eq!(split_address("::1:7000"), Some(("::1".to_owned(), 7000)));
        assert_eq!(split_address("[::1]:7000"), Some(("::1".to_owned(), 7000)));
        assert_eq!(split_address("nonsense"), None);
    }
}
