//! Reads a request's body: all of it within a time and a size, then as JSON of one type.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Code};

/// The largest body that is read.
pub(crate) const MAX_BODY: u64 = 1 << 20;

/// The longest message, in characters, about what a caller sent.
const MAX_MESSAGE: usize = 300;

/// How much of a larger one is received and thrown away: a plain client reads no answer before it
/// has sent its all, and one whose connection is closed under it sees a reset instead of the 413.
const MAX_DISCARDED: u64 = 16 << 20;

/// The request's body as a `T`.
pub(crate) async fn read<T: DeserializeOwned>(
    request: Request,
    within: Duration,
) -> Result<T, ApiError> {
    let (head, body) = request.into_parts();
    let received = tokio::time::timeout(within, receive(&head.headers, body));
    let bytes = received.await.unwrap_or_else(|_| Err(too_slow(within)))?;
    expect_json(&head.headers)?;
    parse(&bytes)
}

async fn receive(headers: &HeaderMap, mut body: Body) -> Result<Bytes, ApiError> {
    let announced = body.size_hint().lower();
    let asks_first = headers.contains_key(EXPECT);
    if announced > MAX_DISCARDED || (asks_first && announced > MAX_BODY) {
        return Err(too_large());
    }
    let mut kept = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broken_off(&error))?.into_data() else {
            continue;
        };
        size += data.len() as u64;
        if size > MAX_DISCARDED {
            break;
        }
        if size <= MAX_BODY {
            kept.extend_from_slice(&data);
        }
    }
    if size > MAX_BODY { Err(too_large()) } else { Ok(kept.into()) }
}

/// A body without a type is taken for JSON.
fn expect_json(headers: &HeaderMap) -> Result<(), ApiError> {
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let message = "send the request as it is: no content-encoding is understood";
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    let Some(given) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    if essence.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::new(
        Code::UnsupportedMediaType,
        "send the request as JSON, with content-type: application/json",
    ))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // Asked here, since serde would take an array for an object without names.
    match body.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(_) => return Err(invalid("the body must be a JSON object")),
        None => return Err(invalid("the body is empty: send a JSON object")),
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(rejected)?;
    deserializer.end().map_err(|error| invalid(format!("after the JSON object: {error}")))?;
    Ok(value)
}

fn rejected(error: serde_path_to_error::Error<serde_json::Error>) -> ApiError {
    let path = error.path();
    let field = path.iter().next().map(|_| shortened(path.to_string()));
    let error = error.into_inner();
    match field {
        _ if !error.is_data() => invalid(format!("not valid JSON: {error}")),
        Some(field) => invalid(shortened(format!("{field}: {error}"))).with_detail("field", field),
        None => invalid(shortened(error.to_string())),
    }
}

/// What a caller sent may be a megabyte long; what it did wrong is in the first words.
pub(crate) fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(Code::InvalidArgument, message)
}

fn broken_off(error: &axum::Error) -> ApiError {
    invalid(format!("the body broke off: {error}"))
}

fn too_large() -> ApiError {
    ApiError::new(Code::PayloadTooLarge, format!("the body is larger than {MAX_BODY} bytes"))
}

fn too_slow(within: Duration) -> ApiError {
    ApiError::new(Code::RequestTimeout, format!("the body did not arrive within {within:?}"))
}

#[cfg(test)]
mod tests;
