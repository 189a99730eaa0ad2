//! Against a real redis-server or valkey-server.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::super::probe;
use super::*;

const SOON: Duration = Duration::from_secs(20);

fn socket_of(redis: &EmbeddedRedis) -> PathBuf {
    PathBuf::from(redis.url().strip_prefix("redis+unix://").unwrap())
}

/// The first line of the answer.
async fn ask(socket: &Path, command: &str) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(format!("{command}\r\n").as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await?;
    Ok(line.trim_end().to_owned())
}

async fn pid_at(socket: &Path) -> std::io::Result<i32> {
    Ok(UnixStream::connect(socket).await?.peer_cred()?.pid().unwrap())
}

async fn until_silent(socket: &Path) {
    while UnixStream::connect(socket).await.is_ok() {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_state_is_there_again_at_the_next_start() {
    let folder = TempDir::new().unwrap();
    let data_dir = folder.path().join("a folder, made when needed");
    let redis = EmbeddedRedis::start(&data_dir).await.unwrap();
    let socket = socket_of(&redis);
    assert_eq!(ask(&socket, "SET k 12345").await.unwrap(), "+OK");
    redis.stop().await;
    assert!(UnixStream::connect(&socket).await.is_err());
    let redis = EmbeddedRedis::start(&data_dir).await.unwrap();
    assert_eq!(ask(&socket, "INCR k").await.unwrap(), ":12346");
    redis.stop().await;
}

#[tokio::test]
async fn it_is_started_again_when_it_dies() {
    let folder = TempDir::new().unwrap();
    let redis = EmbeddedRedis::start(folder.path()).await.unwrap();
    let socket = socket_of(&redis);
    let first = pid_at(&socket).await.unwrap();
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let again = async {
        while !matches!(pid_at(&socket).await, Ok(pid) if pid != first) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, again).await.unwrap();
    redis.stop().await;
    assert!(UnixStream::connect(&socket).await.is_err());
}

#[tokio::test]
async fn a_data_folder_has_one_server_at_a_time() {
    let folder = TempDir::new().unwrap();
    let redis = EmbeddedRedis::start(folder.path()).await.unwrap();
    let refused = EmbeddedRedis::start(folder.path()).await.err().unwrap();
    assert!(matches!(refused, EmbeddedRedisError::InUse(_)), "{refused}");
    assert!(refused.to_string().contains("--data-dir"), "{refused}");
    assert_eq!(ask(&socket_of(&redis), "PING").await.unwrap(), "+PONG");
    redis.stop().await;
    EmbeddedRedis::start(folder.path()).await.unwrap().stop().await;
}

#[tokio::test]
async fn a_folder_with_a_long_path_gets_its_socket_elsewhere() {
    let folder = TempDir::new().unwrap();
    let deep = folder.path().join("d".repeat(120));
    let redis = EmbeddedRedis::start(&deep).await.unwrap();
    let socket = socket_of(&redis);
    assert!(!socket.starts_with(&deep), "{socket:?}");
    assert_eq!(fs::read_link(deep.join("redis.sock")).unwrap(), socket);
    let mode = socket.parent().unwrap().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    assert_eq!(ask(&socket, "PING").await.unwrap(), "+PONG");
    redis.stop().await;
    assert!(!socket.parent().unwrap().exists());
    EmbeddedRedis::start(&deep).await.unwrap().stop().await;
}

#[tokio::test]
async fn it_ends_with_the_process_that_holds_it() {
    let folder = TempDir::new().unwrap();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let launch = Launch::prepare(binary::find().unwrap(), data_dir).unwrap();
    let mut process = launch.spawn().unwrap();
    launch.ready(&mut process).await.unwrap();
    // What the system does with a process that is killed: its end of the pipe is closed.
    drop(process);
    timeout(SOON, until_silent(launch.socket())).await.unwrap();
}

#[tokio::test]
async fn what_a_killed_server_left_running_is_ended_first() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().canonicalize().unwrap().join("redis.sock");
    let mut orphan = Command::new(binary::find().unwrap());
    orphan.args(["--port", "0", "--appendonly", "yes", "--save", "", "--unixsocket"]);
    orphan.arg(&socket).arg("--dir").arg(folder.path());
    let mut orphan = orphan.stdout(std::process::Stdio::null()).spawn().unwrap();
    probe::ready(&socket).await;
    assert_eq!(ask(&socket, "SET k 1").await.unwrap(), "+OK");
    let redis = EmbeddedRedis::start(folder.path()).await.unwrap();
    assert!(orphan.wait().await.is_ok());
    assert_eq!(ask(&socket_of(&redis), "INCR k").await.unwrap(), ":2");
    redis.stop().await;
}

#[tokio::test]
async fn one_that_ends_at_once_is_reported_with_its_last_words() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("fails");
    fs::write(&program, "#!/bin/sh\necho Bad file format >&2\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let data_dir = DataDir::open(folder.path()).unwrap();
    let launch = Launch::prepare(program, data_dir).unwrap();
    let ended = launch.ready(&mut launch.spawn().unwrap()).await;
    let message = ended.unwrap_err().to_string();
    assert!(message.contains("exit status: 3): Bad file format"), "{message}");
    assert!(message.contains("redis.log"), "{message}");
}

#[tokio::test]
async fn a_data_folder_that_is_a_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let message = EmbeddedRedis::start(file.path()).await.err().unwrap().to_string();
    assert!(message.contains("cannot use the data folder"), "{message}");
}

#[test]
fn valkey_comes_before_redis_and_only_programs_count() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = std::env::join_paths([one.path(), two.path()]).unwrap();
    let add = |folder: &TempDir, name: &str, mode: u32| {
        let file = folder.path().join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    };
    assert_eq!(binary::find_in(OsStr::new("")), None);
    add(&one, "valkey-server", 0o644);
    assert_eq!(binary::find_in(&path), None);
    let redis = add(&one, "redis-server", 0o755);
    assert_eq!(binary::find_in(&path), Some(redis));
    let valkey = add(&two, "valkey-server", 0o755);
    assert_eq!(binary::find_in(&path), Some(valkey));
}
