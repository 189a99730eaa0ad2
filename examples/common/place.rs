//! A namespace for one run of an example.

use grackle_client::wire::{
    CreateNamespaceRequest, CreateSemaphoreLeaseRequest, CreateSemaphoreRequest,
    DeleteNamespaceRequest,
};
use grackle_client::{Client, Config};

use super::{Failure, User};

/// Apart from what a real system keeps in the same Redis.
pub(crate) const KEY_PREFIX: &str = "grackle-examples";
const TTL_SECONDS: i64 = 3_600;

/// A fresh namespace, and a client for it.
pub(crate) struct Place {
    client: Client,
    namespace: String,
}

impl Place {
    /// A client of its own: to Redis, a node.
    pub(crate) async fn connect(url: &str) -> Result<Client, Failure> {
        let mut config = Config::new(url);
        config.key_prefix = KEY_PREFIX.to_owned();
        let connected = async {
            let client = Client::connect_with(config).await?;
            client.ping().await?;
            Ok(client)
        };
        connected.await.map_err(|error: grackle_client::Error| {
            format!("no Redis at {url} ({error}); --redis-url or GRACKLE_REDIS_URL names another")
                .into()
        })
    }

    /// Makes the namespace, in the Redis at `url`.
    pub(crate) async fn open(url: &str, example: &str) -> Result<Self, Failure> {
        let client = Self::connect(url).await?;
        let namespace = format!("{example}-{}", nanoid::nanoid!(8));
        let request = CreateNamespaceRequest { name: namespace.clone(), ..Default::default() };
        client.create_namespace(request).await?;
        Ok(Self { client, namespace })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) async fn create_semaphore(&self, name: &str, permits: i64) -> Result<(), Failure> {
        let request = CreateSemaphoreRequest {
            namespace_name: self.namespace.clone(),
            semaphore_name: name.to_owned(),
            permits,
            ..Default::default()
        };
        self.client.create_semaphore(request).await?;
        Ok(())
    }

    /// Somebody with a lease of their own, who uses a semaphore through `client`.
    pub(crate) async fn user(&self, client: &Client, semaphore: &str) -> Result<User, Failure> {
        let request = CreateSemaphoreLeaseRequest {
            namespace_name: self.namespace.clone(),
            process_id: format!("pid-{}", std::process::id()),
            ttl_seconds: TTL_SECONDS,
            ..Default::default()
        };
        Ok(User {
            client: client.clone(),
            namespace: self.namespace.clone(),
            semaphore: semaphore.to_owned(),
            lease_id: client.create_semaphore_lease(request).await?.lease.lease_id,
        })
    }

    /// Deletes the namespace, with all that is in it.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        let request = DeleteNamespaceRequest { namespace_name: self.namespace };
        self.client.delete_namespace(request).await?;
        Ok(())
    }
}
