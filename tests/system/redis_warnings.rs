//! What is said of a Redis that will break the promises: by the SDK, in the log, on `/readyz`.

use std::process::Command;

use grackle_client::{Client, ErrorKind, RedisWarningKind};
use grackle_test_support::{
    OwnRedis, RIGHTS, Replicas, SOON, ServerProcess, TestRedis, TestServer, eventually,
    server_config,
};

const SAFE: [&str; 2] = ["--appendonly", "yes"];

async fn findings(redis: &OwnRedis) -> Vec<RedisWarningKind> {
    let warnings = redis.client().await.redis_warnings().await.unwrap();
    warnings.into_iter().map(|warning| warning.kind).collect()
}

async fn page(url: &str) -> (u16, String) {
    let answer = reqwest::get(format!("{url}/readyz")).await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn a_redis_that_keeps_what_it_is_told_is_not_warned_of() {
    let redis = TestRedis::own_with(&SAFE).await;
    assert_eq!(findings(&redis).await, []);
    let mut server = ServerProcess::start(&redis, &[]).await;
    assert_eq!(page(server.url()).await, (200, "ready\n".to_owned()));
    assert!(server.terminate().await.success(), "{}", server.log());
    assert!(!server.log().contains("WARN"), "{}", server.log());
}

#[tokio::test]
async fn each_matter_is_found() {
    let not_append_only =
        |points: &str| RedisWarningKind::NotAppendOnly { save_points: Some(points.to_owned()) };
    let evicts =
        RedisWarningKind::Evicts { maxmemory: 100_000_000, policy: "allkeys-lru".to_owned() };
    let full = ["--maxmemory", "100000000", "--maxmemory-policy"];
    for (options, found) in [
        (vec![], vec![not_append_only("")]),
        (vec!["--save", "3600", "1"], vec![not_append_only("3600 1")]),
        ([&SAFE[..], &["--appendfsync", "no"]].concat(), vec![RedisWarningKind::NeverSynced]),
        ([&SAFE[..], &full, &["allkeys-lru"]].concat(), vec![evicts]),
        ([&SAFE[..], &full, &["volatile-lru"]].concat(), vec![]),
        ([&SAFE[..], &full, &["noeviction"]].concat(), vec![]),
    ] {
        let redis = TestRedis::own_with(&options).await;
        assert_eq!(findings(&redis).await, found, "{options:?}");
    }
}

#[tokio::test]
async fn a_user_that_may_not_read_the_configuration_is_told_what_can_be_known() {
    let redis = TestRedis::own().await;
    let (keys, channels) = (format!("~{}:*", redis.prefix()), format!("&{}:*", redis.prefix()));
    let user = ["ACL", "SETUSER", "grackle", "reset", "on", ">secret", "resetchannels"];
    let _: () = redis.run(&[&user[..], &[&keys, &channels], &RIGHTS].concat()).await;
    let mut config = redis.config();
    config.redis_url = format!("redis://grackle:secret@127.0.0.1:{}", redis.port());
    let warnings = Client::connect_with(config).await.unwrap().redis_warnings().await.unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].kind, RedisWarningKind::NotAppendOnly { save_points: None });
    assert!(warnings[0].to_string().contains("may not read"), "{}", warnings[0]);
}

#[tokio::test]
async fn the_log_warns_once_and_readyz_each_time() {
    let full = ["--maxmemory", "100000000", "--maxmemory-policy", "allkeys-lru"];
    let redis = TestRedis::own_with(&full).await;
    let mut server = ServerProcess::start(&redis, &[]).await;
    for _ in 0..3 {
        let (status, said) = page(server.url()).await;
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!((status, lines[0], lines.len()), (200, "ready", 3), "{said}");
        assert!(lines[1].starts_with("warning: Redis evicts keys"), "{said}");
        assert!(lines[2].starts_with("warning: Redis keeps nothing on disk"), "{said}");
    }
    assert!(server.terminate().await.success(), "{}", server.log());
    let log = server.log();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
    assert_eq!(warnings.len(), 2, "{log}");
    assert!(warnings[0].contains("maxmemory-policy noeviction"), "{log}");
    assert!(warnings[1].contains("appendonly yes"), "{log}");
}

#[tokio::test]
async fn a_replica_is_refused_at_the_start_naming_its_master() {
    let redis = Replicas::start(1).await;
    let mut config = redis.config();
    config.redis_url = redis.url_of(0);
    let error = Client::connect_with(config).await.expect_err("a replica");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("is a replica of 127.0.0.1:"), "{error}");
    let binary = ServerProcess::binary().await;
    let mut server = Command::new(binary);
    server.args(["--listen", "127.0.0.1:0", "--redis-url", &redis.url_of(0)]);
    let output = tokio::task::spawn_blocking(move || server.output().unwrap()).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("is a replica of") && said.contains("--redis-url"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[tokio::test]
async fn a_master_that_becomes_a_replica_makes_the_server_unready_until_it_is_one_again() {
    let (redis, master) = (TestRedis::own_with(&SAFE).await, TestRedis::own_with(&SAFE).await);
    let server = TestServer::start_with(server_config(&redis)).await;
    assert_eq!(page(server.url()).await, (200, "ready\n".to_owned()));
    let port = master.port().to_string();
    let _: String = redis.run(&["REPLICAOF", "127.0.0.1", &port]).await;
    let said = eventually("it is not ready", SOON, async || {
        let (status, said) = page(server.url()).await;
        (status == 503).then_some(said)
    });
    let reason = format!("is a replica of 127.0.0.1:{port}");
    let found = &said.await;
    assert!(found.contains(&reason), "{found:?}");
    let _: String = redis.run(&["REPLICAOF", "NO", "ONE"]).await;
    assert_eq!(page(server.url()).await, (200, "ready\n".to_owned()));
    server.stop().await;
}

#[tokio::test]
async fn the_private_redis_is_not_warned_of() {
    let mut server = ServerProcess::start_alone(&[]).await;
    assert_eq!(page(server.url()).await, (200, "ready\n".to_owned()));
    assert!(server.terminate().await.success(), "{}", server.log());
    assert!(!server.log().contains("WARN"), "{}", server.log());
}
