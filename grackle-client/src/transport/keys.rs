//! The names this side of the scripts needs; every other key is spelled in `lua/shared/keys.lua`.

/// Names under one prefix.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The index of all namespaces.
    pub(crate) fn index(&self) -> String {
        format!("{}:namespaces", self.prefix)
    }

    /// The record of a namespace; its braces keep all that begins with it in one cluster slot.
    pub(crate) fn namespace(&self, namespace: &str) -> String {
        format!("{}:{{{namespace}}}", self.prefix)
    }

    /// Brings a node the answers to its own waits in a namespace.
    pub(crate) fn node_channel(&self, namespace: &str, node: &str) -> String {
        format!("{}:node:{node}", self.namespace(namespace))
    }

    /// Brings all nodes that wait in a namespace what concerns each of them.
    pub(crate) fn nodes_channel(&self, namespace: &str) -> String {
        format!("{}:nodes", self.namespace(namespace))
    }

    /// Where a semaphore that is watched shows its changes.
    pub(crate) fn watch_channel(&self, namespace: &str, semaphore: &str) -> String {
        format!("{}:watch:{semaphore}", self.namespace(namespace))
    }

    /// The namespace and the semaphore of such a channel.
    pub(crate) fn watched_of<'a>(&self, channel: &'a str) -> Option<(&'a str, &'a str)> {
        let (namespace, rest) = self.split(channel)?;
        Some((namespace, rest.strip_prefix(":watch:")?))
    }

    /// The namespace of a channel.
    pub(crate) fn namespace_of<'a>(&self, channel: &'a str) -> Option<&'a str> {
        self.split(channel).map(|(namespace, _)| namespace)
    }

    fn split<'a>(&self, channel: &'a str) -> Option<(&'a str, &'a str)> {
        channel.strip_prefix(&self.prefix)?.strip_prefix(":{")?.split_once('}')
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn a_channel_tells_its_namespace_and_its_semaphore() {
        let keys = Keys::new("a:b");
        assert_eq!(keys.namespace_of(&keys.node_channel("ns", "n1")), Some("ns"));
        assert_eq!(keys.namespace_of(&keys.nodes_channel("ns")), Some("ns"));
        assert_eq!(keys.namespace_of("other:{ns}:nodes"), None);
        assert_eq!(keys.watched_of(&keys.watch_channel("ns", "s-1")), Some(("ns", "s-1")));
        assert_eq!(keys.watched_of(&keys.node_channel("ns", "n1")), None);
    }
}
