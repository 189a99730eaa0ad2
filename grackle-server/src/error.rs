//! Error answers, and the status of each code.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt::Write as _;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use grackle_client::{Error, ErrorKind};
use serde::Serialize;

/// The `code` of an error answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidArgument,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    AlreadyExists,
    Locked,
    PayloadTooLarge,
    UnsupportedMediaType,
    ResourceExhausted,
    Internal,
    Unavailable,
}

impl Code {
    /// All codes.
    pub(crate) const ALL: [Self; 11] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::RequestTimeout,
        Self::AlreadyExists,
        Self::Locked,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ResourceExhausted,
        Self::Internal,
        Self::Unavailable,
    ];

    /// The word in `code`, and the status that goes with it.
    pub(crate) fn row(self) -> (&'static str, StatusCode) {
        match self {
            Self::InvalidArgument => ("InvalidArgument", StatusCode::BAD_REQUEST),
            Self::NotFound => ("NotFound", StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => ("MethodNotAllowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::RequestTimeout => ("RequestTimeout", StatusCode::REQUEST_TIMEOUT),
            Self::AlreadyExists => ("AlreadyExists", StatusCode::CONFLICT),
            Self::Locked => ("Locked", StatusCode::CONFLICT),
            Self::PayloadTooLarge => ("PayloadTooLarge", StatusCode::PAYLOAD_TOO_LARGE),
            Self::UnsupportedMediaType => {
                ("UnsupportedMediaType", StatusCode::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::ResourceExhausted => ("ResourceExhausted", StatusCode::TOO_MANY_REQUESTS),
            Self::Internal => ("Internal", StatusCode::INTERNAL_SERVER_ERROR),
            Self::Unavailable => ("Unavailable", StatusCode::SERVICE_UNAVAILABLE),
        }
    }

    /// The word in `code`.
    pub(crate) fn word(self) -> &'static str {
        self.row().0
    }

    /// The status of the answer.
    pub(crate) fn status(self) -> StatusCode {
        self.row().1
    }
}

impl From<ErrorKind> for Code {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidArgument => Self::InvalidArgument,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists => Self::AlreadyExists,
            ErrorKind::ResourceExhausted => Self::ResourceExhausted,
            ErrorKind::Unavailable => Self::Unavailable,
            _ => Self::Internal,
        }
    }
}

/// An error answer: `{"code": …, "message": …, "details": {…}}`.
#[derive(Debug, Serialize)]
pub(crate) struct ApiError {
    #[serde(serialize_with = "word")]
    pub(crate) code: Code,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) details: BTreeMap<&'static str, String>,
    /// For the log only.
    #[serde(skip)]
    cause: Option<String>,
}

impl ApiError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: BTreeMap::new(), cause: None }
    }

    pub(crate) fn with_detail(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.details.insert(name, value.into());
        self
    }

    /// Logs a fault of the server's side with its cause; a caller's mistake is not logged.
    pub(crate) fn log(&self, operation: &str) {
        let cause = self.cause.as_deref();
        match self.code {
            Code::Internal => tracing::error!(operation, cause, "{}", self.message),
            Code::Unavailable => tracing::warn!(operation, cause, "{}", self.message),
            _ => tracing::debug!(operation, code = self.code.word(), "{}", self.message),
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let answer =
            Self { cause: causes(&error), ..Self::new(error.kind().into(), error.to_string()) };
        match error {
            Error::InvalidField { field, .. } => answer.with_detail("field", field),
            Error::ResourceExhausted { limit, .. } => answer.with_detail("limit", limit),
            _ => answer,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.code.status(), Json(self)).into_response()
    }
}

fn causes(error: &dyn StdError) -> Option<String> {
    let mut source = error.source()?;
    let mut causes = source.to_string();
    while let Some(next) = source.source() {
        let _ = write!(causes, ": {next}");
        source = next;
    }
    Some(causes)
}

fn word<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.word())
}

#[cfg(test)]
mod tests;
