//! The binary: how it starts, how it fails to, and how it ends.

use std::time::{Duration, Instant};

use crate::support::binary::{Binary, fails, redis_pid, socket};
use crate::support::http::*;
use rustix::process::{Signal, getpgid, kill_process_group};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::{TcpListener, UnixStream};

/// No test may take longer; none of them comes near.
async fn in_time<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), test).await.unwrap()
}

#[tokio::test]
async fn a_wrong_setting_ends_it_with_a_line_that_names_it() {
    let folder = TempDir::new().unwrap();
    for (args, names) in [
        (["--max-leases", "many"], "--max-leases"),
        (["--max-leases", "0"], "--max-leases"),
        (["--key-prefix", "a b"], "--key-prefix"),
        (["--listen", "nowhere"], "--listen"),
        (["--redis-url", "http://127.0.0.1:1"], "--redis-url"),
        (["--no-such-flag", "1"], "--no-such-flag"),
    ] {
        let (status, said) = in_time(fails(folder.path(), &args, None)).await;
        assert!(matches!(status.code(), Some(1 | 2)), "{status}: {said}");
        assert!(said.contains(names) && !said.contains("panicked"), "{said}");
    }
    assert!(!folder.path().join("grackle-data").exists(), "it began before it knew its settings");
}

#[tokio::test]
async fn an_unreachable_redis_ends_it_soon_and_no_password_is_shown() {
    let folder = TempDir::new().unwrap();
    // Taken, so that nobody else gets the port; not listening to Redis' protocol, either.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("redis://me:secret@{}", silent.local_addr().unwrap());
    for url in ["redis://me:secret@127.0.0.1:1", silent.as_str()] {
        let began = Instant::now();
        let args = ["--listen", "127.0.0.1:0", "--redis-url", url];
        let (status, said) = in_time(fails(folder.path(), &args, None)).await;
        assert_eq!(status.code(), Some(1), "{said}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(said.contains("--redis-url") && !said.contains("secret"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[tokio::test]
async fn without_a_redis_binary_it_says_how_to_get_one() {
    let folder = TempDir::new().unwrap();
    let args = ["--listen", "127.0.0.1:0"];
    let (status, said) = fails(folder.path(), &args, Some(folder.path().as_os_str())).await;
    assert_eq!((status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(
        said.contains("apt-get install redis-server") && said.contains("--redis-url"),
        "{said:?}"
    );
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let folder = TempDir::new().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (status, said) = fails(folder.path(), &["--listen", &address], None).await;
    assert_eq!(status.code(), Some(1));
    assert!(said.contains(&address) && said.contains("--listen"), "{said}");
}

#[tokio::test]
async fn sigterm_does_not_wait_for_those_who_wait_and_the_state_stays() {
    in_time(async {
        let folder = TempDir::new().unwrap();
        let server = Binary::start(folder.path(), &[]).await;
        let lease = taken_semaphore(&server.address).await;
        let mut waiting = waiting_caller(&server.address, &lease).await;
        let began = Instant::now();
        server.signal(Signal::TERM);
        assert_eq!(rest(&mut waiting).await.unwrap().status, 503);
        let (status, said) = server.ended().await;
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        assert!(UnixStream::connect(socket(folder.path())).await.is_err(), "Redis lives on");

        let again = Binary::start(folder.path(), &["--log-format", "json"]).await;
        let body = json!({ "namespace_name": "n", "semaphore_name": "s" });
        let found = post(&again.address, "GetSemaphore", body).await.json();
        assert_eq!(found["semaphore"]["active_holds"], 1, "{found}");
        again.signal(Signal::TERM);
        let (status, said) = again.ended().await;
        assert_eq!(status.code(), Some(0), "{said}");
        for line in said.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn ctrl_c_sets_the_waiters_aside_first() {
    a_terminal_ends_it_by(Signal::INT).await;
}

#[tokio::test]
async fn a_terminal_that_closes_sets_the_waiters_aside_too() {
    a_terminal_ends_it_by(Signal::HUP).await;
}

/// A terminal signals the whole group: the child must outlive the server's last calls.
async fn a_terminal_ends_it_by(signal: Signal) {
    in_time(async {
        let folder = TempDir::new().unwrap();
        let server = Binary::start(folder.path(), &[]).await;
        let lease = taken_semaphore(&server.address).await;
        let mut waiting = waiting_caller(&server.address, &lease).await;
        let redis = redis_pid(folder.path()).await;
        assert_ne!(getpgid(Some(redis)).unwrap(), server.pid());
        kill_process_group(server.pid(), signal).unwrap();
        assert_eq!(rest(&mut waiting).await.unwrap().status, 503);
        let (status, said) = server.ended().await;
        assert_eq!(status.code(), Some(0), "{said}");
        assert!(!said.contains("died"), "{said}");
    })
    .await;
}

#[tokio::test]
async fn after_a_kill_its_redis_ends_and_the_next_start_has_the_state() {
    in_time(async {
        let folder = TempDir::new().unwrap();
        let server = Binary::start(folder.path(), &[]).await;
        taken_semaphore(&server.address).await;
        server.signal(Signal::KILL);
        server.ended().await;
        // At once, while the child is still ending.
        let again = Binary::start(folder.path(), &[]).await;
        let found = post(&again.address, "GetNamespace", json!({ "namespace_name": "n" })).await;
        assert_eq!(found.status, 200, "{found:?}");
        again.signal(Signal::KILL);
        again.ended().await;
        while UnixStream::connect(socket(folder.path())).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_signal_ends_it_where_it_stands() {
    in_time(async {
        let folder = TempDir::new().unwrap();
        let server = Binary::start(folder.path(), &["--drain-seconds", "3600"]).await;
        // A call in flight that never ends: half of its body is still to come.
        let whole = request("CreateNamespace", r#"{"name": "n"}"#);
        let mut half = tokio::net::TcpStream::connect(&server.address).await.unwrap();
        let sent = &whole.as_bytes()[..whole.len() - 3];
        tokio::io::AsyncWriteExt::write_all(&mut half, sent).await.unwrap();
        until_in_flight(&server.address).await;
        server.signal(Signal::TERM);
        while tokio::net::TcpStream::connect(&server.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.signal(Signal::TERM);
        let (status, said) = server.ended().await;
        assert_eq!(status.code(), Some(1), "{said}");
    })
    .await;
}

async fn until_in_flight(address: &str) {
    while !get(address, "/metrics").await.body.contains("grackle_http_requests_in_flight 1") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
