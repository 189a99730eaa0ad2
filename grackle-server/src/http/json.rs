//! Reads a request's body as JSON.

use std::time::Duration;

use axum::extract::Request;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Code};
use crate::http::body;

/// The longest message, in characters, about what a caller sent.
const MAX_MESSAGE: usize = 300;

/// The request's body as a `T`.
pub(crate) async fn read<T: DeserializeOwned>(
    request: Request,
    within: Duration,
) -> Result<T, ApiError> {
    let body = body::read(request, within).await?;
    match body.media_type.as_deref() {
        // A body without a type counts as JSON.
        None | Some("application/json") => parse(&body.bytes),
        _ => Err(ApiError::new(
            Code::UnsupportedMediaType,
            "send the request as JSON, with content-type: application/json",
        )),
    }
}

pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // serde would accept an array as an object without names.
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

/// Cuts a text of the caller, which may be a megabyte long: the mistake is in its first words.
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

#[cfg(test)]
mod tests;
