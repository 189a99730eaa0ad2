//! What a node subscribes to.

use crate::transport::keys::Keys;
use crate::types::SemaphoreName;

/// A namespace in which calls wait, or a semaphore that is watched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// The answers to the calls that wait there, and news of what is due.
    Namespace(String),
    /// The changes of one semaphore.
    Semaphore(SemaphoreName),
}

impl Topic {
    /// The namespace whose server publishes it.
    pub(crate) fn namespace(&self) -> &str {
        match self {
            Self::Namespace(namespace) => namespace,
            Self::Semaphore(semaphore) => &semaphore.namespace,
        }
    }

    pub(crate) fn channels(&self, keys: &Keys, node_id: &str) -> Vec<String> {
        match self {
            Self::Namespace(namespace) => {
                vec![keys.node_channel(namespace, node_id), keys.nodes_channel(namespace)]
            }
            Self::Semaphore(SemaphoreName { namespace, name }) => {
                vec![keys.watch_channel(namespace, name)]
            }
        }
    }
}
