//! Redis in a container, where the machine has Docker and no Redis binary.

use testcontainers::core::{IntoContainerPort, WaitFor};
use testcontainers::runners::SyncRunner;
use testcontainers::{Container, GenericImage, TestcontainersError};

use super::reaper::Reaper;

const IMAGE: &str = "redis";
const TAG: &str = "7-alpine";
const PORT: u16 = 6379;

/// A container that is removed when this process ends.
pub(crate) struct RedisContainer {
    url: String,
    _reaper: Reaper,
    _container: Container<GenericImage>,
}

impl RedisContainer {
    /// Starts it, fetching the image when it is not there yet.
    pub(crate) async fn start() -> Result<Self, TestcontainersError> {
        // It has a runtime of its own, which must not start inside another.
        tokio::task::spawn_blocking(Self::start_blocking).await.expect("no panic")
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn start_blocking() -> Result<Self, TestcontainersError> {
        let container = GenericImage::new(IMAGE, TAG)
            .with_exposed_port(PORT.tcp())
            .with_wait_for(WaitFor::message_on_stdout("Ready to accept connections"))
            .start()?;
        let (host, port) = (container.get_host()?, container.get_host_port_ipv4(PORT)?);
        let reaper = Reaper::of_container(container.id());
        let url = format!("redis://{host}:{port}");
        Ok(Self { url, _reaper: reaper, _container: container })
    }
}
