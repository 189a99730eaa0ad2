//! A caller of plain semaphores, and short words for what is seen of them.

use grackle_client::Client;
use grackle_client::wire::{GetSemaphoreRequest, Semaphore, UpSemaphoreRequest};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::NAMESPACE;
use grackle_test_support::{LONG, SOON, TestRedis, eventually};

/// A caller of one server.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) http: reqwest::Client,
    pub(super) url: String,
}

impl Caller {
    pub(super) fn of(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy();
        let http = http.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { http, url: url.to_owned() }
    }

    /// Status and body; none where the connection broke.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Option<(u16, Value)> {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.url));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    pub(super) async fn create(&self, name: &str, value: i64) {
        let body = json!({ "name": name, "value": value });
        let made = self.send("POST", "/semaphore", Some(body.clone())).await;
        assert_eq!(made, Some((200, body)));
    }

    pub(super) async fn up(&self, name: &str) -> i64 {
        let answer = self.send("POST", "/semaphore/up", Some(json!({ "name": name }))).await;
        value(answer).unwrap()
    }

    /// The value after it, or none where it is locked.
    pub(super) async fn down(&self, name: &str) -> Option<i64> {
        self.down_within(name, 0).await
    }

    pub(super) async fn down_within(&self, name: &str, timeout_seconds: i64) -> Option<i64> {
        let body = json!({ "name": name, "timeout_seconds": timeout_seconds });
        value(self.send("POST", "/semaphore/down", Some(body)).await)
    }

    pub(super) async fn value(&self, name: &str) -> i64 {
        value(self.send("GET", &format!("/semaphore/value/{name}"), None).await).unwrap()
    }

    /// How many downs the server has ended with that code.
    pub(super) async fn downs(&self, code: &str) -> u64 {
        let answer = self.http.get(format!("{}/metrics", self.url)).send().await.unwrap();
        let metrics = answer.text().await.unwrap();
        let line = format!(
            r#"grackle_http_requests_total{{operation="DownHttpSemaphore",code="{code}"}} "#
        );
        let count = metrics.lines().find_map(|metric| metric.strip_prefix(&line));
        count.map_or(0, |count| count.parse().unwrap())
    }

    /// Waits until the server has ended so many: it sees a hang-up when it gets round to it.
    pub(super) async fn until_ended(&self, downs: u64) {
        eventually("the server has ended the down", SOON, async || {
            let ended = self.downs("OK").await + self.downs("Cancelled").await;
            (ended == downs).then_some(())
        })
        .await;
    }

    pub(super) async fn watch(&self, name: &str, last_seen: Option<&str>) -> reqwest::Response {
        let request = self.http.get(format!("{}/semaphore/watch/{name}", self.url));
        let request = match last_seen {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        request.send().await.unwrap()
    }
}

pub(super) fn value(answer: Option<(u16, Value)>) -> Option<i64> {
    match answer.expect("an answer") {
        (200, body) => Some(body["value"].as_i64().unwrap()),
        (409, text) if text == "Semaphore locked" => None,
        other => panic!("{other:?}"),
    }
}

/// What the API shows of such a semaphore.
pub(super) async fn inside(client: &Client, name: &str) -> Semaphore {
    let (namespace_name, semaphore_name) = (NAMESPACE.to_owned(), name.to_owned());
    let request = GetSemaphoreRequest { namespace_name, semaphore_name };
    client.get_semaphore(request).await.unwrap().semaphore
}

pub(super) async fn until(
    client: &Client,
    name: &str,
    what: &str,
    is_so: impl Fn(&Semaphore) -> bool,
) {
    eventually(what, SOON, async || is_so(&inside(client, name).await).then_some(())).await;
}

pub(super) async fn until_waiting(client: &Client, name: &str, count: i64) {
    until(client, name, &format!("{count} wait"), |it| it.waiting_count == count).await;
}

/// A down that has to wait; it stands in the queue when this returns.
pub(super) async fn blocked(
    client: &Client,
    caller: &Caller,
    name: &str,
) -> JoinHandle<Option<i64>> {
    let before = inside(client, name).await.waiting_count;
    let (caller, of) = (caller.clone(), name.to_owned());
    let call = tokio::spawn(async move { caller.down_within(&of, LONG).await });
    until_waiting(client, name, before + 1).await;
    call
}

pub(super) async fn woken(call: JoinHandle<Option<i64>>) {
    let answer = tokio::time::timeout(SOON, call).await.expect("in time").unwrap();
    assert!(answer.is_some(), "{answer:?}");
}

/// Gives back what is down, and ends with nothing left.
pub(super) async fn clear(redis: &TestRedis, client: &Client, name: &str) {
    let caller_of = UpSemaphoreRequest {
        namespace_name: NAMESPACE.to_owned(),
        semaphore_name: name.to_owned(),
    };
    while inside(client, name).await.active_holds > 0 {
        client.up_semaphore(caller_of.clone()).await.unwrap();
    }
    redis.assert_nothing_left(client).await;
}
