//! The conformance cases, in JSON beside this file, over every transport.
//!
//! The language of the cases is in [`case`]; what plays them, in [`player`]. The cases of a file
//! run all at once, each in a namespace of its own.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod case;
mod expect;
mod http;
mod language;
mod matcher;
mod names;
mod player;
mod sdk;
mod transport;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::case::Case;
use crate::http::Http;
use crate::sdk::Sdk;
use crate::transport::Transport;
use grackle_test_support::{TestRedis, TestServer};

/// How many times each case is played, one round after the other. Default 1.
const ROUNDS: &str = "GRACKLE_CONFORMANCE_ROUNDS";

macro_rules! suites {
    ($transport:ident by $play:ident: $($file:ident)*) => {
        mod $transport {
            pub(crate) const FILES: &[&str] = &[$(stringify!($file)),*];

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $file() {
                super::$play(stringify!($file)).await;
            })*
        }
    };
}

suites! { over_http by play_over_http: acquire http http_semaphores leases namespaces semaphores waiters waiting }
suites! { over_sdk by play_over_sdk: acquire leases namespaces semaphores waiters waiting }

#[test]
fn no_case_file_is_left_out() {
    let played = [over_http::FILES, over_sdk::FILES].concat();
    let played: BTreeSet<PathBuf> = played.into_iter().map(path).collect();
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let cases = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert_eq!(cases.collect::<BTreeSet<_>>(), played);
}

async fn play_over_http(file: &str) {
    let redis = TestRedis::shared().await;
    let server = TestServer::start(&redis).await;
    play(file, Http::new(server.url())).await;
    redis.assert_nothing_left(&redis.client().await).await;
}

async fn play_over_sdk(file: &str) {
    let redis = TestRedis::shared().await;
    let client = redis.client().await;
    play(file, Sdk::new(client.clone())).await;
    redis.assert_nothing_left(&client).await;
}

async fn play<T: Transport>(file: &str, transport: T) {
    let transport = Arc::new(transport);
    for round in 1..=rounds() {
        let failures = play_once(read(file), &transport).await;
        assert!(failures.is_empty(), "in round {round}\n{}", failures.join("\n"));
    }
}

async fn play_once<T: Transport>(cases: Vec<Case>, transport: &Arc<T>) -> Vec<String> {
    let mut playing = JoinSet::new();
    for case in cases {
        playing.spawn(player::play(case, Arc::clone(transport)));
    }
    playing.join_all().await.into_iter().filter_map(Result::err).collect()
}

fn read(file: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let cases: Vec<Case> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}.json: {error}"));
    assert!(!cases.is_empty(), "{file}.json has no case");
    cases
}

fn path(file: &str) -> PathBuf {
    folder().join(file).with_extension("json")
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance"))
}

fn rounds() -> u32 {
    let rounds = std::env::var(ROUNDS).unwrap_or_else(|_| "1".to_owned());
    rounds.parse().unwrap_or_else(|error| panic!("{ROUNDS}={rounds}: {error}"))
}
