//! What a node wants to hear of.

use crate::transport::keys::Keys;
use crate::types::SemaphoreName;

/// A namespace in which calls wait, or a semaphore that is watched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// The answers of the calls that wait there, and what is due sooner than was known.
    Namespace(String),
    /// What it shows, with every change.
    Semaphore(SemaphoreName),
}

impl Topic {
    /// It is heard where this namespace is.
    pub(crate) fn namespace(&self) -> &str {
        match self {
            Self::Namespace(namespace) => namespace,
            Self::Semaphore(watched) => &watched.namespace,
        }
    }

    pub(crate) fn channels(&self, keys: &Keys, node: &str) -> Vec<String> {
        match self {
            Self::Namespace(namespace) => {
                vec![keys.node_channel(namespace, node), keys.nodes_channel(namespace)]
            }
            Self::Semaphore(SemaphoreName { namespace, name }) => {
                vec![keys.watch_channel(namespace, name)]
            }
        }
    }
}
