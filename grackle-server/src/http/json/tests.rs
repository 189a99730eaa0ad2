use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use grackle_client::wire::CreateSemaphoreRequest;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::json;

use super::*;
use crate::http::body::{MAX_BODY, MAX_DISCARDED};

const WITHIN: Duration = Duration::from_secs(30);

fn refused(body: &str) -> ApiError {
    parse::<CreateSemaphoreRequest>(body.as_bytes()).unwrap_err()
}

fn post(body: impl Into<Body>, headers: &[(&str, &str)]) -> Request {
    let request = Request::post("/v1/CreateSemaphore");
    let add = |request: axum::http::request::Builder, (name, value): &(&str, &str)| {
        request.header(*name, *value)
    };
    headers.iter().fold(request, add).body(body.into()).unwrap()
}

async fn code(request: Request) -> Option<Code> {
    read::<CreateSemaphoreRequest>(request, WITHIN).await.err().map(|error| error.code)
}

#[test]
fn numbers_may_be_strings_and_fields_may_be_left_out() {
    let body = json!({ "semaphore_name": "s", "permits": "9007199254740991" }).to_string();
    let request: CreateSemaphoreRequest = parse(body.as_bytes()).unwrap();
    assert_eq!((request.permits, request.namespace_name.as_str()), (9_007_199_254_740_991, ""));
}

#[test]
fn a_wrong_field_is_named() {
    for (body, field, words) in [
        (r#"{"permits": true}"#, "permits", "64-bit integer"),
        (r#"{"permits": 1.5}"#, "permits", "64-bit integer"),
        (r#"{"permits": "ten"}"#, "permits", "64-bit integer"),
        (r#"{"permits": 9223372036854775808}"#, "permits", "64-bit integer"),
        (r#"{"permits": null}"#, "permits", "64-bit integer"),
        (r#"{"namespace_name": 5}"#, "namespace_name", "string"),
        (r#"{"metadata": {"k": 1}}"#, "metadata.k", "string"),
        (r#"{"metadata": [1]}"#, "metadata", "map"),
        (r#"{"permits": 1, "permitz": 2}"#, "permitz", "unknown field"),
    ] {
        let error = refused(body);
        assert_eq!(error.code, Code::InvalidArgument);
        assert_eq!(error.details.get("field").map(String::as_str), Some(field), "{error:?}");
        assert!(error.message.contains(field) && error.message.contains(words), "{error:?}");
    }
}

#[test]
fn what_is_no_json_object_is_refused_with_a_word_of_help() {
    for (body, words) in [
        ("", "empty"),
        (" \n\t", "empty"),
        ("[]", "JSON object"),
        ("nonsense", "JSON object"),
        ("\"{}\"", "JSON object"),
        (r#"{"semaphore_name": "#, "not valid JSON"),
        (r#"{"permits": 01}"#, "not valid JSON"),
        ("{\"namespace_name\": \"\u{7}\"}", "not valid JSON"),
        ("{} {}", "after the JSON object"),
        ("{}]", "after the JSON object"),
        (r#"{"permits": 1, "permits": 2}"#, "duplicate field `permits`"),
    ] {
        let error = refused(body);
        assert_eq!(error.code, Code::InvalidArgument, "{body}");
        assert!(error.message.contains(words), "{body}: {error:?}");
    }
    assert!(parse::<CreateSemaphoreRequest>(b"{\"namespace_name\": \"\xff\"}").is_err());
}

#[tokio::test]
async fn json_is_the_only_content_type() {
    for (given, expected) in [
        ("application/json", None),
        ("Application/JSON; charset=utf-8", None),
        ("application/x-www-form-urlencoded", Some(Code::UnsupportedMediaType)),
        ("text/plain", Some(Code::UnsupportedMediaType)),
        ("application/jsonp", Some(Code::UnsupportedMediaType)),
        ("", Some(Code::UnsupportedMediaType)),
    ] {
        assert_eq!(code(post("{}", &[("content-type", given)])).await, expected, "{given}");
    }
    assert_eq!(code(post("{}", &[])).await, None);
}

#[tokio::test]
async fn a_body_of_exactly_the_largest_size_is_read() {
    let padded = |size: u64| format!("{{}}{}", " ".repeat(usize::try_from(size).unwrap() - 2));
    assert_eq!(code(post(padded(MAX_BODY), &[])).await, None);
    assert_eq!(code(post(padded(MAX_BODY + 1), &[])).await, Some(Code::PayloadTooLarge));
}

#[tokio::test]
async fn a_large_body_is_received_to_its_end_but_not_for_ever() {
    let (endless, sent) = chunks(u64::MAX);
    assert_eq!(code(post(endless, &[])).await, Some(Code::PayloadTooLarge));
    assert_eq!(sent.load(Ordering::Relaxed), MAX_DISCARDED / CHUNK as u64 + 1);
    let (large, sent) = chunks(5 * 16);
    assert_eq!(code(post(large, &[])).await, Some(Code::PayloadTooLarge));
    assert_eq!(sent.load(Ordering::Relaxed), 5 * 16);
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_before_it_sends() {
    let body = Body::new(Announced(5 << 20));
    let request = post(body, &[("expect", "100-continue")]);
    assert_eq!(code(request).await, Some(Code::PayloadTooLarge));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let request = post(Body::new(Announced(10)), &[]);
    assert_eq!(code(request).await, Some(Code::RequestTimeout));
}

const CHUNK: usize = 1 << 16;

/// So many chunks of 64 KiB, and how many were taken.
fn chunks(most: u64) -> (Body, Arc<AtomicU64>) {
    let sent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sent);
    let next = move |_: &mut Context<'_>| {
        let more = counted.load(Ordering::Relaxed) < most;
        let chunk = more.then(|| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(&[b' '; CHUNK])))
        });
        Poll::Ready(chunk)
    };
    (Body::new(StreamBody::new(futures_util::stream::poll_fn(next))), sent)
}

/// Announces its size and sends nothing.
struct Announced(u64);

impl HttpBody for Announced {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Pending
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(self.0)
    }
}
