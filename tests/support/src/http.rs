//! Calls to a server's HTTP API.

use serde_json::{Value, json};

use super::test_namespace::{LONG, TestNamespace};

/// A caller of one server.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    url: String,
}

impl Http {
    pub fn to(url: &str) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { client, url: url.to_owned() }
    }

    /// The status and the body of the answer to an operation; none where the connection broke.
    pub async fn call(&self, operation: &str, body: Value) -> Option<(u16, Value)> {
        let request = self.client.post(format!("{}/v1/{operation}", self.url));
        let request = request.header("content-type", "application/json").body(body.to_string());
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    /// An acquire in the test's [`TestNamespace`] that waits.
    pub async fn acquire(&self, lease_id: &str, weight: i64) -> Option<(u16, Value)> {
        let body = json!({
            "namespace_name": TestNamespace::NAMESPACE, "semaphore_name": TestNamespace::SEMAPHORE,
            "lease_id": lease_id, "weight": weight, "timeout_seconds": LONG,
        });
        self.call("AcquireSemaphore", body).await
    }
}

/// Does the answer say ACQUIRED?
pub fn is_acquired(answer: &Option<(u16, Value)>) -> bool {
    matches!(answer, Some((200, body)) if body["outcome"] == "ACQUIRE_OUTCOME_ACQUIRED")
}
