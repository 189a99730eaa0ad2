//! Hand-offs of one permit, measured.

use std::time::{Duration, Instant};

use grackle_client::wire::GetSemaphoreRequest;

use crate::common::{Failure, Place, User};

/// The semaphore's name.
pub(crate) const SEMAPHORE: &str = "baton";

/// One permit, between two who use it through different nodes.
pub(crate) struct Baton {
    pub(crate) holder: User,
    waiter: User,
}

impl Baton {
    pub(crate) async fn new(url: &str, place: &Place) -> Result<Self, Failure> {
        place.create_semaphore(SEMAPHORE, 1).await?;
        let holder = place.user(place.client(), SEMAPHORE).await?;
        let waiter = place.user(&Place::connect(url).await?, SEMAPHORE).await?;
        holder.acquire().await?;
        Ok(Self { holder, waiter })
    }

    /// From the call of release to the waiter's answer.
    pub(crate) async fn hand_on(&mut self) -> Result<Duration, Failure> {
        let waiter = self.waiter.clone();
        let answered = tokio::spawn(async move {
            waiter.acquire().await?;
            Ok::<_, Failure>(Instant::now())
        });
        self.until_it_waits().await?;
        let called = Instant::now();
        self.holder.release().await?;
        let answered = answered.await??;
        std::mem::swap(&mut self.holder, &mut self.waiter);
        Ok(answered - called)
    }

    async fn until_it_waits(&self) -> Result<(), Failure> {
        let User { client, namespace, semaphore, .. } = &self.holder;
        let request = GetSemaphoreRequest {
            namespace_name: namespace.clone(),
            semaphore_name: semaphore.clone(),
        };
        while client.get_semaphore(request.clone()).await?.semaphore.waiting_count == 0 {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
