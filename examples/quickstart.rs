//! Twenty permits for a partner's API: a semaphore's life, step by step.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! Needs a Redis, at `GRACKLE_REDIS_URL` or redis://127.0.0.1:6379.

use std::error::Error;
use std::process::ExitCode;

use grackle_client::Client;
use grackle_client::wire::{
    AcquireOutcome, AcquireSemaphoreRequest, CreateNamespaceRequest, CreateSemaphoreLeaseRequest,
    CreateSemaphoreRequest, DeleteNamespaceRequest, DeleteSemaphoreRequest, GetSemaphoreRequest,
    ListSemaphoreHoldersRequest, RefreshSemaphoreLeaseRequest, ReleaseSemaphoreRequest,
    RevokeSemaphoreLeaseRequest, Semaphore,
};

const NAMESPACE: &str = "third_parties";
const SEMAPHORE: &str = "partner_1";

#[tokio::main]
async fn main() -> ExitCode {
    let url = std::env::var("GRACKLE_REDIS_URL");
    let url = url.unwrap_or_else(|_| "redis://127.0.0.1:6379".to_owned());
    let client = match connect(&url).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("no Redis at {url} ({error}); GRACKLE_REDIS_URL says where another one is");
            return ExitCode::FAILURE;
        }
    };
    match run(&client).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn connect(url: &str) -> Result<Client, grackle_client::Error> {
    let client = Client::connect(url).await?;
    client.ping().await?;
    Ok(client)
}

async fn run(client: &Client) -> Result<(), Box<dyn Error>> {
    let namespace_is_new = create_namespace(client).await?;
    let semaphore_is_new = create_semaphore(client).await?;
    let worked = work(client).await;
    // Whatever came of it; but what was there before stays.
    if semaphore_is_new {
        delete_semaphore(client).await?;
    }
    if namespace_is_new {
        delete_namespace(client).await?;
    }
    worked
}

/// Once, by whoever sets the system up; false if it was there already.
async fn create_namespace(client: &Client) -> Result<bool, Box<dyn Error>> {
    let request = CreateNamespaceRequest { name: NAMESPACE.to_owned(), ..Default::default() };
    match client.create_namespace(request).await {
        Ok(answer) => println!("created namespace {}", answer.namespace.name),
        Err(grackle_client::Error::NamespaceExists) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

async fn create_semaphore(client: &Client) -> Result<bool, Box<dyn Error>> {
    let request = CreateSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
        description: "Partner 1 API".to_owned(),
        permits: 20,
        ..Default::default()
    };
    match client.create_semaphore(request).await {
        Ok(answer) => println!("created semaphore {SEMAPHORE}: {}", state(&answer.semaphore)),
        Err(grackle_client::Error::SemaphoreExists) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

/// What each process does, from its start to its end.
async fn work(client: &Client) -> Result<(), Box<dyn Error>> {
    let request = CreateSemaphoreLeaseRequest {
        namespace_name: NAMESPACE.to_owned(),
        process_id: "host-123/pid-4567".to_owned(),
        ttl_seconds: 60,
        ..Default::default()
    };
    let lease = client.create_semaphore_lease(request).await?.lease;
    println!("created lease {} of {}", lease.lease_id, lease.process_id);

    acquire(client, &lease.lease_id).await?;
    look(client).await?;

    let request = RefreshSemaphoreLeaseRequest {
        namespace_name: NAMESPACE.to_owned(),
        lease_id: lease.lease_id.clone(),
        ttl_seconds: 60,
    };
    let refreshed = client.refresh_semaphore_lease(request).await?.lease;
    let longer = (refreshed.expires_at - lease.expires_at) as f64 / 1e9;
    println!("refreshed the lease: it and its holds live {longer:.3} s longer");

    let request = ReleaseSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
        lease_id: lease.lease_id.clone(),
    };
    let semaphore = client.release_semaphore(request).await?.semaphore;
    println!("released: {}", state(&semaphore));

    let request = RevokeSemaphoreLeaseRequest {
        namespace_name: NAMESPACE.to_owned(),
        lease_id: lease.lease_id,
    };
    client.revoke_semaphore_lease(request).await?;
    println!("revoked the lease: whatever it still held is free");
    Ok(())
}

async fn acquire(client: &Client, lease_id: &str) -> Result<(), Box<dyn Error>> {
    let request = AcquireSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
        lease_id: lease_id.to_owned(),
        weight: 3,
        timeout_seconds: 60,
        ..Default::default()
    };
    let answer = client.acquire_semaphore(request).await?;
    if answer.outcome != AcquireOutcome::Acquired {
        return Err(format!("not acquired: {:?}", answer.outcome).into());
    }
    println!("acquired 3 permits, fencing token {}", answer.fencing_token);
    Ok(())
}

/// What the person on call sees.
async fn look(client: &Client) -> Result<(), Box<dyn Error>> {
    let request = GetSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
    };
    let semaphore = client.get_semaphore(request).await?.semaphore;
    println!("semaphore {}: {}", semaphore.name, state(&semaphore));

    let request = ListSemaphoreHoldersRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
        ..Default::default()
    };
    for holder in client.list_semaphore_holders(request).await?.holders {
        println!("  held by {}: {} permits", holder.lease_id, holder.weight);
    }
    Ok(())
}

async fn delete_semaphore(client: &Client) -> Result<(), Box<dyn Error>> {
    let request = DeleteSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: SEMAPHORE.to_owned(),
    };
    client.delete_semaphore(request).await?;
    println!("deleted the semaphore");
    Ok(())
}

async fn delete_namespace(client: &Client) -> Result<(), Box<dyn Error>> {
    let request = DeleteNamespaceRequest { namespace_name: NAMESPACE.to_owned() };
    client.delete_namespace(request).await?;
    println!("deleted the namespace");
    Ok(())
}

fn state(semaphore: &Semaphore) -> String {
    let Semaphore { permits, active_holds, active_holders_count, waiting_count, .. } = semaphore;
    format!(
        "{active_holds} of {permits} permits held, by {active_holders_count}; \
         {waiting_count} waiting"
    )
}
