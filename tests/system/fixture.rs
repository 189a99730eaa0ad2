//! The fixture itself: servers come, break as told and go; keys and commands are counted.

use std::time::Duration;

use grackle_test_support::{Link, OwnRedis, ServerProcess, TestRedis, TestServer, eventually};

type Answer = Result<String, redis::RedisError>;

fn is_alive(pid: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::test_kill_process(pid).is_ok()
}

async fn pid(redis: &TestRedis) -> u32 {
    let info: String = redis.run(&["INFO", "server"]).await;
    let id = info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap();
    id.parse().unwrap()
}

#[tokio::test]
async fn tests_share_a_server_and_no_key() {
    let (one, other) = (TestRedis::shared().await, TestRedis::shared().await);
    assert_eq!(one.url(), other.url());
    let _: () = one.run(&["SET", &format!("{}:x", one.prefix()), "1"]).await;
    assert_eq!(one.keys_left().await, [format!("{}:x", one.prefix())]);
    let found = other.keys_left().await;
    assert!(found.is_empty(), "{found:?}");
    let _: () = one.run(&["DEL", &format!("{}:x", one.prefix())]).await;
}

#[tokio::test]
async fn own_server_ends_with_its_test() {
    let redis = TestRedis::own().await;
    let pid = pid(&redis).await;
    assert!(is_alive(pid), "the server {pid} has not started");
    drop(redis);
    assert!(!is_alive(pid), "the server {pid} is left running");
}

#[tokio::test]
async fn restart_keeps_port_and_append_only_file() {
    let mut redis = TestRedis::own_with(&["--appendonly", "yes"]).await;
    let (before, port) = (pid(&redis).await, redis.port());
    let _: () = redis.run(&["SET", "x", "1"]).await;
    redis.restart().await;
    assert_ne!(pid(&redis).await, before);
    assert_eq!(redis.port(), port);
    assert_eq!(redis.run::<String>(&["GET", "x"]).await, "1");
}

#[tokio::test]
async fn killed_server_is_gone_until_started_again() {
    let mut redis = TestRedis::own().await;
    let _: () = redis.run(&["SET", "x", "1"]).await;
    redis.kill();
    let answer: Answer = redis.raw().try_run(&["PING"]).await;
    assert!(answer.is_err(), "{answer:?}");
    redis.start_again().await;
    assert_eq!(redis.run::<Option<String>>(&["GET", "x"]).await, None);
}

#[tokio::test]
async fn stopped_server_answers_when_it_goes_on() {
    let mut redis = TestRedis::own().await;
    redis.stop();
    let asked = {
        let raw = redis.raw().clone();
        tokio::spawn(async move { raw.run::<String>(&["PING"]).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!asked.is_finished(), "a stopped Redis answers");
    redis.cont();
    assert_eq!(asked.await.unwrap(), "PONG");
}

#[tokio::test]
async fn commands_are_counted() {
    let redis = TestRedis::own().await;
    let before = redis.command_calls().await;
    let monitor = redis.monitor().await;
    let _: i64 = redis.run(&["EVAL", "return redis.call('INCR', KEYS[1])", "1", "x"]).await;
    assert_eq!(monitor.finish().await.len(), 1);
    let calls = redis.command_calls().await.since(&before);
    assert_eq!((calls.of("eval"), calls.of("incr"), calls.of("evalsha")), (1, 1, 0));
    // The monitor's connection is gone as soon as Redis has seen it close.
    let within = Duration::from_secs(5);
    eventually("no client is left", within, async || {
        (redis.connected_clients().await == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn clock_moves_only_when_told() {
    let redis = TestRedis::shared().await;
    let clock = redis.clock("ns");
    let found = clock.now().await;
    assert!(found > 1_600_000_000_000_000, "{found:?}");
    clock.set(5).await;
    clock.advance(Duration::from_secs(3_600)).await;
    assert_eq!(clock.now().await, 3_600_000_005);
    let key = format!("{}:{{ns}}:clock", redis.prefix());
    assert_eq!(redis.keys_left().await, [key.as_str()]);
    let _: () = redis.run(&["DEL", &key]).await;
}

#[tokio::test]
async fn link_goes_silent_and_recovers() {
    let redis = TestRedis::own().await;
    let link = Link::to(&redis).await;
    let through = TestRedis::at(link.url()).await;
    link.go_silent();
    let asked = {
        let raw = through.raw().clone();
        tokio::spawn(async move { raw.run::<String>(&["PING"]).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!asked.is_finished(), "a silent link answers");
    link.recover();
    assert_eq!(asked.await.unwrap(), "PONG");
    link.cut();
    eventually("the link is cut", Duration::from_secs(5), async || {
        (redis.connected_clients().await == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn server_runs_in_the_test_until_stopped() {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    let url = format!("{}/readyz", server.url());
    let ready = reqwest::get(&url).await.unwrap();
    assert!(ready.status().is_success(), "{ready:?}");
    server.stop().await;
    let answer = reqwest::get(&url).await;
    assert!(answer.is_err(), "a stopped server answers: {answer:?}");
}

#[tokio::test]
async fn server_runs_as_a_process_until_terminated() {
    let redis = TestRedis::shared().await;
    let mut server = ServerProcess::start(&redis, &["--log-format", "json"]).await;
    let ready = reqwest::get(format!("{}/readyz", server.url())).await.unwrap();
    assert!(ready.status().is_success(), "{ready:?}");
    assert!(server.terminate().await.success(), "{}", server.log());
}

/// A process of its own, started by the test below, that dies without cleaning up.
const DIES: &str = "GRACKLE_TEST_DIES";

#[tokio::test]
async fn dies_with_a_server_when_told() {
    if std::env::var_os(DIES).is_none() {
        return;
    }
    let redis: OwnRedis = TestRedis::own().await;
    println!("server {}", pid(&redis).await);
    let me = rustix::process::getpid();
    rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn killed_test_process_leaves_no_server() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "fixture::dies_with_a_server_when_told", "--nocapture"])
        .env(DIES, "1");
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let output = String::from_utf8(output.stdout).unwrap();
    let server = output.lines().find_map(|line| line.split_once("server ")).unwrap().1;
    let server = server.parse().unwrap();
    eventually("the server ends", Duration::from_secs(5), async || {
        (!is_alive(server)).then_some(())
    })
    .await;
}
