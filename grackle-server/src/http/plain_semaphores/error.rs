//! An answer without a value: a status and a line of text.

use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use grackle_client::Error;

use crate::error::{ApiError, Code};
use crate::metrics::Call;
use crate::operation::Operation;

#[derive(Debug)]
pub(super) struct PlainError {
    status: StatusCode,
    location: Option<String>,
    /// For the log and the metrics.
    error: ApiError,
}

impl PlainError {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        ApiError::new(Code::InvalidArgument, message).into()
    }

    /// The answer leads to its value.
    pub(super) fn exists(value_path: String) -> Self {
        let error = ApiError::new(Code::AlreadyExists, "semaphore already exists");
        Self { status: StatusCode::SEE_OTHER, location: Some(value_path), error }
    }

    /// The value is 0, or others wait before this call.
    pub(super) fn locked() -> Self {
        let error = ApiError::new(Code::Locked, "Semaphore locked");
        Self { status: error.code.status(), location: None, error }
    }

    pub(super) fn answer(self, operation: Operation, call: Call<'_>) -> Response {
        self.error.log(operation.name());
        call.failed(self.error.code);
        match self.location {
            Some(location) => {
                (self.status, [(LOCATION, location)], self.error.message).into_response()
            }
            None => (self.status, self.error.message).into_response(),
        }
    }
}

impl From<ApiError> for PlainError {
    fn from(error: ApiError) -> Self {
        Self { status: error.code.status(), location: None, error }
    }
}

impl From<Error> for PlainError {
    fn from(error: Error) -> Self {
        match error {
            // The namespace is created with the first semaphore.
            Error::NamespaceNotFound => ApiError::from(Error::SemaphoreNotFound).into(),
            other => ApiError::from(other).into(),
        }
    }
}
