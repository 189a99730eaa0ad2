//! Plain HTTP/1.1, one request a connection.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let (head, body) = (head.to_lowercase(), body.to_owned());
        Some(Self { status, head, body })
    }
}

pub(crate) fn request(operation: &str, body: &str) -> String {
    format!(
        "POST /v1/{operation} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends all, then reads all.
pub(crate) async fn exchange(address: &str, request: &[u8]) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    rest(&mut stream).await
}

/// The answer that the server closes the connection after.
pub(crate) async fn rest(stream: &mut TcpStream) -> io::Result<Answer> {
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Answer::parse(&text).ok_or_else(|| io::Error::other(format!("no answer: {text:?}")))
}

pub(crate) async fn get(address: &str, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    exchange(address, request.as_bytes()).await.unwrap()
}

pub(crate) async fn post(address: &str, operation: &str, body: Value) -> Answer {
    let request = request(operation, &body.to_string());
    exchange(address, request.as_bytes()).await.unwrap()
}

/// A namespace `n` with a semaphore `s` of one permit that a lease holds; another lease, which
/// does not, is returned.
pub(crate) async fn taken_semaphore(address: &str) -> String {
    let made = post(address, "CreateNamespace", json!({ "name": "n" })).await;
    assert_eq!(made.status, 200, "{made:?}");
    let semaphore = json!({ "namespace_name": "n", "semaphore_name": "s", "permits": 1 });
    assert_eq!(post(address, "CreateSemaphore", semaphore).await.status, 200);
    let holder = lease(address).await;
    let acquired = post(address, "AcquireSemaphore", acquire(&holder, 0)).await;
    assert_eq!(acquired.json()["outcome"], "ACQUIRE_OUTCOME_ACQUIRED");
    lease(address).await
}

pub(crate) async fn lease(address: &str) -> String {
    let body = json!({ "namespace_name": "n", "process_id": "p", "ttl_seconds": 60 });
    let answer = post(address, "CreateSemaphoreLease", body).await.json();
    answer["lease"]["lease_id"].as_str().unwrap().to_owned()
}

pub(crate) fn acquire(lease: &str, timeout_seconds: u64) -> Value {
    json!({
        "namespace_name": "n",
        "semaphore_name": "s",
        "lease_id": lease,
        "weight": 1,
        "timeout_seconds": timeout_seconds,
    })
}

/// A connection whose caller waits for the permit.
pub(crate) async fn waiting_caller(address: &str, lease: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = request("AcquireSemaphore", &acquire(lease, 60).to_string());
    stream.write_all(request.as_bytes()).await.unwrap();
    until_waiting(address, 1).await;
    stream
}

/// Returns once so many wait at `s`; the test's own time limit ends a vain wait.
pub(crate) async fn until_waiting(address: &str, count: u64) {
    let body = json!({ "namespace_name": "n", "semaphore_name": "s" });
    while post(address, "GetSemaphore", body.clone()).await.json()["semaphore"]["waiting_count"]
        != count
    {
        sleep(Duration::from_millis(10)).await;
    }
}
