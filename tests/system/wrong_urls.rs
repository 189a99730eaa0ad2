//! A connection string that is wrong in any part ends the server at once, with one line that says so.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use grackle_test_support::{Cluster, Sentinels, ServerProcess, TestRedis, TlsRedis};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// Starts the server with that URL; the one line that it ends with.
async fn refusal(url: &str) -> String {
    refusal_with(url, &[]).await
}

async fn refusal_with(url: &str, flags: &[&str]) -> String {
    let binary = ServerProcess::binary().await;
    let mut command = Command::new(binary);
    command.args(["--listen", "127.0.0.1:0", "--redis-url", url]).args(flags);
    command.stdin(Stdio::null());
    let began = Instant::now();
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let limit = tokio::time::timeout(2 * ENDS_WITHIN, output).await;
    let output = limit.expect("it ends").unwrap();
    assert!(began.elapsed() < ENDS_WITHIN, "{url}: after {:?}", began.elapsed());
    the_line(url, &output)
}

fn the_line(url: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{url}: {said}");
    assert!(output.stdout.is_empty(), "{url}");
    assert_eq!(said.lines().count(), 1, "{url}: {said}");
    assert!(!said.contains("panic"), "{url}: {said}");
    println!("{url}\n    {said}");
    said
}

/// The line names the server, not its secrets, and has all these words.
async fn refused(url: &str, words: &[&str]) {
    let line = refusal(url).await;
    for word in words {
        assert!(line.contains(word), "{url}: no {word:?} in: {line}");
    }
    assert!(!line.contains("secret"), "{line}");
}

#[tokio::test]
async fn a_host_that_is_not() {
    refused("redis://nowhere.invalid:6379", &["redis://nowhere.invalid:6379", "--redis-url"]).await;
}

#[tokio::test]
async fn a_port_where_nobody_listens() {
    refused("redis://127.0.0.1:1", &["redis://127.0.0.1:1", "refused", "--redis-url"]).await;
}

#[tokio::test]
async fn a_socket_that_is_not() {
    refused(
        "redis+unix:///nowhere/redis.sock",
        &["/nowhere/redis.sock", "nobody listens", "No such file"],
    )
    .await;
}

#[tokio::test]
async fn a_web_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            let _ = caller.read(&mut [0; 1024]).await;
            let answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            let _ = caller.write_all(answer.as_bytes()).await;
        }
    });
    refused(&url, &[&url, "not a Redis"]).await;
}

#[tokio::test]
async fn a_server_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    refused(&url, &[&url, "no answer"]).await;
}

#[tokio::test]
async fn a_server_that_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok(caller) = listener.accept().await {
            drop(caller)
        }
    });
    refused(&url, &[&url, "closed the connection"]).await;
}

#[tokio::test]
async fn a_wrong_password_a_missing_one_and_an_unknown_user() {
    let redis = TestRedis::own().await;
    let _: () = redis.run(&["CONFIG", "SET", "requirepass", "good"]).await;
    let port = redis.port();
    for user in [":secret@", "", "nobody:secret@"] {
        refused(&format!("redis://{user}127.0.0.1:{port}"), &["password"]).await;
    }
}

#[tokio::test]
async fn a_user_who_may_not_run_the_scripts() {
    let redis = TestRedis::own().await;
    let user = ["ACL", "SETUSER", "grackle", "on", ">secret", "~*", "&*", "+@all", "-zadd"];
    let _: () = redis.run(&user).await;
    let url = format!("redis://grackle:secret@127.0.0.1:{}", redis.port());
    refused(&url, &["the rights that docs/running.md lists"]).await;
}

#[tokio::test]
async fn a_database_that_is_not() {
    let redis = TestRedis::shared().await;
    let url = format!("{}/99", redis.url());
    refused(&url, &[&url, "database"]).await;
    refused(&format!("{}/one", redis.url()), &["database"]).await;
}

/// Passed over, it would be another database without a word.
#[tokio::test]
async fn options_that_are_not() {
    let redis = TestRedis::shared().await;
    refused(&format!("{}/?db=7", redis.url()), &["options", "%3F"]).await;
    refused(&format!("{}/0#7", redis.url()), &["options", "%23"]).await;
}

#[tokio::test]
async fn a_sentinel_taken_for_its_master() {
    let sentinels = Sentinels::start().await;
    let master = sentinels.redis().await.url().to_owned();
    let (_, hosts) = master.split_once("://").unwrap();
    let sentinel = hosts.split([',', '/']).next().unwrap();
    refused(&format!("redis://{sentinel}"), &["it runs no scripts", "redis+sentinel://"]).await;
}

#[tokio::test]
async fn tls_to_a_plain_port() {
    let redis = TestRedis::shared().await;
    let url = redis.url().replace("redis://", "rediss://");
    refused(&url, &[&url, "TLS"]).await;
}

#[tokio::test]
async fn plain_to_a_tls_port_and_an_authority_that_nobody_knows() {
    let Some(redis) = TlsRedis::start().await else {
        return eprintln!("skipped: this Redis was built without TLS");
    };
    let url = redis.url().replace("rediss://", "redis://");
    refused(&url, &[&url, "rediss://"]).await;
    refused(&redis.url(), &[&redis.url(), "certificate", "--tls-ca-file"]).await;
    let line = refusal_with(&redis.url(), &["--tls-ca-file", "/nowhere/ca.pem"]).await;
    assert!(line.contains("--tls-ca-file: /nowhere/ca.pem: No such file"), "{line}");
}

#[tokio::test]
async fn a_scheme_that_is_not() {
    for url in ["http://127.0.0.1:6379", "127.0.0.1:6379", "", "redis://", "redis://h:port"] {
        refused(url, &["--redis-url: ", "redis[s]://"]).await;
    }
}

#[tokio::test]
async fn a_master_that_no_sentinel_knows_and_a_redis_that_is_no_sentinel() {
    let sentinels = Sentinels::start().await;
    let url = sentinels.url().replace("/grackle", "/nobody");
    refused(&url, &["nobody", "Sentinel"]).await;
    let redis = TestRedis::shared().await;
    let url = redis.url().replace("redis://", "redis+sentinel://");
    refused(&format!("{url}/grackle"), &["sentinel"]).await;
    refused(&url, &["names no master"]).await;
}

#[tokio::test]
async fn a_server_of_a_cluster_taken_for_the_only_one() {
    let cluster = Cluster::start().await;
    let url = cluster.url().replace("redis+cluster://", "redis://");
    let (first, _) = url.split_once(',').unwrap();
    refused(first, &[first, "redis+cluster://"]).await;
}
