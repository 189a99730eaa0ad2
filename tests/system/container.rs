//! The fixture's Redis in a container. `make container-tests` runs these, where Docker is.

use std::time::Duration;

use grackle_test_support::{RedisContainer, TestRedis, docker, eventually};

#[tokio::test]
#[ignore = "needs a Docker engine: make container-tests"]
async fn shared_redis_is_in_a_container() {
    assert_eq!(std::env::var("GRACKLE_TEST_REDIS").as_deref(), Ok("container"));
    let redis = TestRedis::shared().await;
    let info: String = redis.run(&["INFO", "server"]).await;
    assert!(info.contains("process_id:1\r"), "the first process of its container:\n{info}");
    let (_, port) = redis.url().rsplit_once(':').unwrap();
    let published = format!("publish={port}");
    let name = docker(&["ps", "--filter", &published, "--format", "{{.Names}}"]).unwrap();
    assert!(name.starts_with("grackle-test-"), "{name:?} has port {port}");
}

/// A process of its own, started by the test below, that dies without cleaning up.
const DIES: &str = "GRACKLE_TEST_DIES_WITH_A_CONTAINER";

#[tokio::test]
async fn dies_with_a_container_when_told() {
    if std::env::var_os(DIES).is_none() {
        return;
    }
    let container = RedisContainer::start().await.unwrap();
    println!("container {}", container.name());
    let me = rustix::process::getpid();
    rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
#[ignore = "needs a Docker engine: make container-tests"]
async fn killed_test_process_leaves_no_container() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "container::dies_with_a_container_when_told", "--nocapture"]);
    let output = command.env(DIES, "1").output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let output = String::from_utf8(output.stdout).unwrap();
    let name = output.lines().find_map(|line| line.split_once("container ")).unwrap().1;
    let named = format!("name={name}");
    eventually("the container is removed", Duration::from_secs(30), async || {
        docker(&["ps", "--all", "--quiet", "--filter", &named]).unwrap().is_empty().then_some(())
    })
    .await;
}
