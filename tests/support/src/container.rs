//! Redis in a container, through Docker.

use std::sync::LazyLock;

use testcontainers::clients::Cli;
use testcontainers::core::WaitFor;
use testcontainers::{Container, GenericImage, RunnableImage};

use super::child_cleanup::ChildCleanup;
use super::docker::docker;
use super::redis_image::RedisImage;

const PORT: u16 = 6379;
/// Callers come from outside the container; nothing is kept on disk.
const OPTIONS: [&str; 6] = ["--protected-mode", "no", "--save", "", "--appendonly", "no"];

static DOCKER: LazyLock<Cli> = LazyLock::new(Cli::default);

/// A container that is removed when this process ends.
pub struct RedisContainer {
    name: String,
    url: String,
    _child_cleanup: ChildCleanup,
    _container: Container<'static, GenericImage>,
}

impl RedisContainer {
    /// Starts it; the error says what Docker has against it.
    pub async fn start() -> Result<Self, String> {
        docker(&["version"])?;
        let image = RedisImage::get().await?;
        let why = format!("no container starts: `docker run --rm {image}` may tell why");
        // It panics, and keeps what Docker said to itself.
        tokio::task::spawn_blocking(move || Self::of(&image)).await.map_err(|_| why)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    fn of(image: &RedisImage) -> Self {
        let name = format!("grackle-test-{}", nanoid::nanoid!(16, &nanoid::alphabet::SAFE[2..]));
        // First: this process may be killed while the container starts.
        let child_cleanup = ChildCleanup::of_container(&name);
        let ready = WaitFor::message_on_stdout("Ready to accept connections");
        let image = GenericImage::new(image.name(), image.tag()).with_wait_for(ready);
        let options = OPTIONS.map(str::to_owned).to_vec();
        let image = image.with_exposed_port(PORT);
        let image = RunnableImage::from((image, options)).with_container_name(&name);
        let container = DOCKER.run(image);
        let url = format!("redis://127.0.0.1:{}", container.get_host_port_ipv4(PORT));
        Self { name, url, _child_cleanup: child_cleanup, _container: container }
    }
}
