//! What a caller sees of a server: over real connections, on a real Redis.

use std::time::{Duration, Instant};

use crate::support::http::*;
use crate::support::server::Server;
use axum::body::Body;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustix::process::{Signal, kill_process};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No test may take longer; none of them comes near.
async fn in_time<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), test).await.unwrap()
}

async fn server() -> Server {
    Server::start(|_| {}).await
}

#[tokio::test]
async fn a_refusal_has_the_form_of_an_error() {
    let server = server().await;
    let large = request("CreateNamespace", &" ".repeat(5_000_000));
    let typed = request("CreateNamespace", "{}").replace("application/json", "text/xml");
    for (request, status, code) in [
        ("POST /nope HTTP/1.1\r\n", 404, "NotFound"),
        ("POST /v1/NoSuchOperation HTTP/1.1\r\n", 404, "NotFound"),
        ("GET /v1/CreateNamespace HTTP/1.1\r\n", 405, "MethodNotAllowed"),
        ("DELETE /healthz HTTP/1.1\r\n", 405, "MethodNotAllowed"),
        (large.as_str(), 413, "PayloadTooLarge"),
        (typed.as_str(), 415, "UnsupportedMediaType"),
    ] {
        let whole = match request.contains("\r\n\r\n") {
            true => request.to_owned(),
            false => format!("{request}host: x\r\nconnection: close\r\n\r\n"),
        };
        let answer = in_time(exchange(&server.address, whole.as_bytes())).await.unwrap();
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{answer:?}");
        assert!(answer.json()["message"].is_string());
        assert!(answer.head.contains("content-type: application/json"), "{answer:?}");
        assert_eq!(status == 405, answer.head.contains("\r\nallow: "), "{answer:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_error_of_an_operation_has_its_status_and_details() {
    let server = Server::start(|config| config.limits.max_semaphores = 1).await;
    let other = taken_semaphore(&server.address).await;
    let another = json!({ "namespace_name": "n", "semaphore_name": "s2", "permits": 1 });
    for (operation, body, status, code, details) in [
        ("GetNamespace", json!({ "namespace_name": "m" }), 404, "NotFound", json!(null)),
        ("CreateNamespace", json!({ "name": "n" }), 409, "AlreadyExists", json!(null)),
        ("CreateNamespace", json!({ "name": "a b" }), 400, "InvalidArgument", json!("name")),
        ("CreateSemaphore", another, 429, "ResourceExhausted", json!("max_semaphores")),
        ("CreateSemaphore", json!({ "permit": 1 }), 400, "InvalidArgument", json!("permit")),
    ] {
        let answer = post(&server.address, operation, body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{answer:?}");
        let detail = &answer.json()["details"];
        let detail = detail.get("field").or_else(|| detail.get("limit"));
        assert_eq!(detail.cloned().unwrap_or_default(), details, "{answer:?}");
    }
    let refused = post(&server.address, "AcquireSemaphore", acquire(&other, 0)).await;
    assert_eq!(refused.json()["outcome"], "ACQUIRE_OUTCOME_UNAVAILABLE");
    server.stop().await;
}

#[tokio::test]
async fn the_pages_answer() {
    let server = server().await;
    for (path, holds) in [
        ("/", "/openapi.json"),
        ("/healthz", "ok"),
        ("/readyz", "ready"),
        ("/metrics", "grackle_build_info{"),
        ("/openapi.json", r#""openapi":"3.1.0""#),
    ] {
        let answer = get(&server.address, path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains(holds), "{answer:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_server_whose_redis_is_silent_is_alive_but_not_ready() {
    let server = server().await;
    assert_eq!(get(&server.address, "/readyz").await.status, 200);
    let redis = server.redis_pid().await;
    kill_process(redis, Signal::STOP).unwrap();
    let began = Instant::now();
    let answer = get(&server.address, "/readyz").await;
    let took = began.elapsed();
    let alive = get(&server.address, "/healthz").await;
    kill_process(redis, Signal::CONT).unwrap();
    assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("Unavailable")));
    assert!(answer.json()["message"].as_str().unwrap().contains("Redis"), "{answer:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(alive.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_no_longer_waits() {
    in_time(async {
        let server = server().await;
        let lease = taken_semaphore(&server.address).await;
        drop(waiting_caller(&server.address, &lease).await);
        until_waiting(&server.address, 0).await;
        // Parked, not forgotten: the same lease takes its place back.
        let again = waiting_caller(&server.address, &lease).await;
        let metrics = get(&server.address, "/metrics").await.body;
        assert!(metrics.contains(r#"{operation="AcquireSemaphore",code="Cancelled"} 1"#));
        assert!(metrics.contains("grackle_acquires_waiting 1"), "{metrics}");
        drop(again);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn http_2_is_spoken_on_the_same_port_and_a_reset_stream_no_longer_waits() {
    in_time(async {
        let server = server().await;
        let lease = taken_semaphore(&server.address).await;
        let stream = TcpStream::connect(&server.address).await.unwrap();
        let handshake =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut requests, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let post = |body: String| {
            Request::post("http://x/v1/AcquireSemaphore").body(Body::from(body)).unwrap()
        };
        let waits = tokio::spawn(requests.send_request(post(acquire(&lease, 60).to_string())));
        until_waiting(&server.address, 1).await;
        let answer = requests.send_request(post("{}".to_owned())).await.unwrap();
        assert_eq!(answer.status(), 400);
        waits.abort();
        until_waiting(&server.address, 0).await;
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_request_that_stays_half_sent_is_given_up() {
    in_time(async {
        let server = Server::start(|config| {
            config.read_timeout_seconds = 1;
            config.idle_timeout_seconds = 1;
        })
        .await;
        let whole = request("CreateNamespace", r#"{"name": "n"}"#);
        let mut half = TcpStream::connect(&server.address).await.unwrap();
        half.write_all(&whole.as_bytes()[..whole.len() - 3]).await.unwrap();
        let answer = rest(&mut half).await.unwrap();
        assert_eq!((answer.status, &answer.json()["code"]), (408, &json!("RequestTimeout")));
        // Nothing, half of a head, half of HTTP/2's opening words.
        for begun in ["", "POST /v1/Create", "PRI * HT"] {
            let mut stream = TcpStream::connect(&server.address).await.unwrap();
            stream.write_all(begun.as_bytes()).await.unwrap();
            // Closed, whether with a word or without.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_wait_may_be_longer_than_a_connection_may_be_idle() {
    in_time(async {
        let server = Server::start(|config| {
            config.read_timeout_seconds = 1;
            config.idle_timeout_seconds = 1;
        })
        .await;
        let lease = taken_semaphore(&server.address).await;
        let answer = post(&server.address, "AcquireSemaphore", acquire(&lease, 2)).await;
        assert_eq!(answer.json()["outcome"], "ACQUIRE_OUTCOME_TIMED_OUT", "{answer:?}");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_thousand_idle_connections_do_no_harm() {
    in_time(async {
        // Both ends of each are in this process.
        let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        limit.current = limit.maximum;
        rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
        let server = server().await;
        let mut idle = Vec::new();
        for _ in 0..1_000 {
            idle.push(TcpStream::connect(&server.address).await.unwrap());
        }
        let made = post(&server.address, "CreateNamespace", json!({ "name": "n" })).await;
        assert_eq!(made.status, 200);
        let began = Instant::now();
        server.stop().await;
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    })
    .await;
}

#[tokio::test]
async fn a_stop_answers_those_who_wait_and_closes_the_rest() {
    in_time(async {
        let server = server().await;
        let lease = taken_semaphore(&server.address).await;
        let mut waiting = waiting_caller(&server.address, &lease).await;
        let mut kept_alive = TcpStream::connect(&server.address).await.unwrap();
        kept_alive.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        assert!(kept_alive.read(&mut [0; 1024]).await.unwrap() > 0);
        let mut silent = TcpStream::connect(&server.address).await.unwrap();
        let began = Instant::now();
        let address = server.address.clone();
        server.stop().await;
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        let answer = rest(&mut waiting).await.unwrap();
        assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("Unavailable")));
        assert_eq!(kept_alive.read(&mut [0; 16]).await.unwrap(), 0);
        assert_eq!(silent.read(&mut [0; 16]).await.unwrap_or(0), 0);
        assert!(TcpStream::connect(address).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_dropped_takes_its_connections_along() {
    in_time(async {
        let server = server().await;
        let lease = taken_semaphore(&server.address).await;
        let mut waiting = waiting_caller(&server.address, &lease).await;
        server.drop().await;
        assert_eq!(waiting.read(&mut [0; 16]).await.unwrap_or(0), 0);
    })
    .await;
}

#[tokio::test]
async fn two_servers_in_one_process_count_apart() {
    let (one, other) = (server().await, server().await);
    post(&one.address, "GetNamespace", json!({ "namespace_name": "n" })).await;
    let missed = r#"{operation="GetNamespace",code="NotFound"} 1"#;
    let found = get(&one.address, "/metrics").await.body;
    assert!(found.contains(missed), "{found:?}");
    assert!(!get(&other.address, "/metrics").await.body.contains(missed));
    one.stop().await;
    other.stop().await;
}
