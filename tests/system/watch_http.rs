//! Watching over HTTP: server-sent events.

use std::time::{Duration, Instant};

use grackle_test_support::{
    Events, ServerProcess, TestNamespace, TestRedis, TestServer, server_config, until_seen,
};
use serde_json::Value;

/// A reader of the events of the test's semaphore.
struct Reader(Events);

async fn get(url: &str, query: &str) -> reqwest::Response {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.get(format!("{url}/v1/WatchSemaphore?{query}")).send().await.unwrap()
}

impl Reader {
    async fn at(url: &str) -> Self {
        Self(Events::of(get(url, "namespace_name=ns&semaphore_name=s").await))
    }

    /// Name and data of the next event; none at the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        let event = self.0.next().await?;
        Some((event.name, event.data))
    }

    async fn until(&mut self, is_so: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (name, data) = self.next().await.expect("an event");
            assert_eq!(name, "semaphore");
            if is_so(&data) {
                return data;
            }
        }
    }
}

#[tokio::test]
async fn events_are_the_state_then_changes_then_deleted() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 3).await;
    let server = TestServer::start(&redis).await;
    let mut reader = Reader::at(server.url()).await;
    let (name, data) = reader.next().await.unwrap();
    assert_eq!(
        (name.as_str(), &data),
        ("semaphore", &serde_json::to_value(space.state().await).unwrap())
    );
    let lease = space.lease().await;
    space.take(&lease, 2).await;
    reader.until(|data| data["active_holds"] == 2).await;
    let metrics = reqwest::get(format!("{}/metrics", server.url())).await.unwrap();
    let found = metrics.text().await.unwrap();
    assert!(found.contains("grackle_watches_open 1"), "{found:?}");
    let request = grackle_client::wire::DeleteSemaphoreRequest {
        namespace_name: space.namespace.clone(),
        semaphore_name: space.name().to_owned(),
    };
    space.client.delete_semaphore(request).await.unwrap();
    while let Some((name, data)) = reader.next().await {
        if name == "deleted" {
            assert_eq!(data, serde_json::json!({}));
            assert_eq!(reader.next().await, None);
            server.stop().await;
            return;
        }
    }
    panic!("it ended without a word");
}

#[tokio::test]
async fn an_error_is_answered_as_any_other() {
    let redis = TestRedis::shared().await;
    let _space = TestNamespace::create(redis.client().await, 3).await;
    let server = TestServer::start(&redis).await;
    for (query, status, code, field) in [
        ("namespace_name=ns&semaphore_name=none", 404, "NotFound", None),
        ("namespace_name=none&semaphore_name=s", 404, "NotFound", None),
        ("namespace_name=ns", 400, "InvalidArgument", Some("semaphore_name")),
        ("namespace_name=ns&semaphore_name=a%20b", 400, "InvalidArgument", Some("semaphore_name")),
        ("namespace_name=ns&semaphore_name=s&x=1", 400, "InvalidArgument", Some("x")),
    ] {
        let answer = get(server.url(), query).await;
        assert_eq!(answer.status(), status, "{query}");
        assert_eq!(answer.headers()["content-type"], "application/json");
        let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert_eq!(body["code"], code, "{query}");
        assert_eq!(body["details"]["field"].as_str(), field, "{query}");
    }
    server.stop().await;
}

/// Of what it is told anyway: the semaphore that is waited for is the first, and there are no more than
/// are to be shown.
#[tokio::test]
async fn metrics_show_the_busiest_semaphores_and_no_more() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 2).await;
    let mut config = server_config(&redis);
    config.metrics_semaphores = 1;
    let server = TestServer::start_with(config).await;
    let http = grackle_test_support::Http::to(server.url());
    let (holder, waiting) = (space.lease().await, space.lease().await);
    for name in ["idle-1", "idle-2"] {
        space.semaphore(name, 1).await;
        let get = serde_json::json!({ "namespace_name": "ns", "semaphore_name": name });
        http.call("GetSemaphore", get).await.unwrap();
    }
    space.take(&holder, 2).await;
    let call = {
        let (http, lease) = (http.clone(), waiting.clone());
        tokio::spawn(async move { http.acquire(&lease, 1).await })
    };
    space.until_waiting(1).await;
    space.release(&holder).await;
    let answer = call.await.unwrap();
    assert!(grackle_test_support::is_acquired(&answer), "{answer:?}");
    let get = serde_json::json!({ "namespace_name": "ns", "semaphore_name": "s" });
    let (_, seen) = http.call("GetSemaphore", get).await.unwrap();
    assert_eq!((&seen["semaphore"]["active_holds"], seen.get("convoy")), (&Value::from(1), None));
    let metrics = reqwest::get(format!("{}/metrics", server.url())).await.unwrap();
    let text = metrics.text().await.unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("semaphore=\"")).collect();
    assert!(
        lines.iter().all(|line| line.contains(r#"{namespace="ns",semaphore="s"}"#)),
        "{lines:#?}"
    );
    assert_eq!(lines.len(), 5, "{lines:#?}");
    let half = r#"grackle_semaphore_occupancy_ratio{namespace="ns",semaphore="s"} 0.5"#;
    assert!(lines.contains(&half), "{lines:#?}");
    let drained = lines.iter().find(|line| line.contains("drained")).unwrap();
    assert!(!drained.ends_with(" 0"), "{drained}");
    server.stop().await;
}

#[tokio::test]
async fn a_reader_that_hangs_up_watches_no_more() {
    let redis = TestRedis::own().await;
    let space = TestNamespace::create(redis.client().await, 3).await;
    let server = TestServer::start(&redis).await;
    let (mut first, second) = (Reader::at(server.url()).await, Reader::at(server.url()).await);
    first.next().await.unwrap();
    until_seen(&redis, &space, 1).await;
    drop(second);
    let lease = space.lease().await;
    space.take(&lease, 1).await;
    first.until(|data| data["active_holds"] == 1).await;
    drop(first);
    until_seen(&redis, &space, 0).await;
    server.stop().await;
}

#[tokio::test]
async fn a_silent_stream_outlives_the_idle_timeout() {
    let redis = TestRedis::shared().await;
    let space = TestNamespace::create(redis.client().await, 3).await;
    let mut config = server_config(&redis);
    config.idle_timeout_seconds = 1;
    let server = TestServer::start_with(config).await;
    let mut reader = Reader::at(server.url()).await;
    reader.next().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let lease = space.lease().await;
    space.take(&lease, 1).await;
    reader.until(|data| data["active_holds"] == 1).await;
    server.stop().await;
}

#[tokio::test]
async fn streams_end_as_their_server_is_told_to_stop_and_do_not_hold_it_up() {
    let redis = TestRedis::shared().await;
    let _space = TestNamespace::create(redis.client().await, 3).await;
    let mut server = ServerProcess::start(&redis, &["--drain-seconds", "60"]).await;
    let mut readers = [Reader::at(server.url()).await, Reader::at(server.url()).await];
    for reader in &mut readers {
        reader.next().await.unwrap();
    }
    let began = Instant::now();
    assert!(server.terminate().await.success(), "{}", server.log());
    assert!(began.elapsed() < Duration::from_secs(30), "it drained its streams");
    for reader in &mut readers {
        assert_eq!(reader.next().await, None, "ended, not deleted");
    }
}
