//! Receives a request's body whole, within limits of time and size.

use std::time::Duration;

use axum::body::{Body as Stream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;

use crate::error::{ApiError, Code};

/// The largest body that is read.
pub(crate) const MAX_BODY: u64 = 1 << 20;

/// How much of a larger body is received and thrown away. A simple client reads no answer before it has
/// sent everything; if the connection is closed meanwhile, it sees a reset instead of the 413.
pub(crate) const MAX_DISCARDED: u64 = 16 << 20;

pub(crate) struct Body {
    /// In lower case and without parameters, if one is given.
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Bytes,
}

pub(crate) async fn read(request: Request, within: Duration) -> Result<Body, ApiError> {
    let (head, body) = request.into_parts();
    let received = tokio::time::timeout(within, receive(&head.headers, body));
    let bytes = received.await.unwrap_or_else(|_| Err(too_slow(within)))?;
    if head.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let message = "send the request as it is: no content-encoding is understood";
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    Ok(Body { media_type: media_type(&head.headers), bytes })
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default();
    Some(essence.trim().to_ascii_lowercase())
}

async fn receive(headers: &HeaderMap, mut body: Stream) -> Result<Bytes, ApiError> {
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

fn broken_off(error: &axum::Error) -> ApiError {
    ApiError::new(Code::InvalidArgument, format!("the body broke off: {error}"))
}

fn too_large() -> ApiError {
    ApiError::new(Code::PayloadTooLarge, format!("the body is larger than {MAX_BODY} bytes"))
}

fn too_slow(within: Duration) -> ApiError {
    ApiError::new(Code::RequestTimeout, format!("the body did not arrive within {within:?}"))
}
