//! An answer that is no value: a status and a line of text.

use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use grackle_client::Error;

use super::name::Name;
use crate::error::{ApiError, Code};
use crate::metrics::Call;

#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    location: Option<String>,
    /// What it is to the log and to `/metrics`.
    error: ApiError,
}

impl Refusal {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        ApiError::new(Code::InvalidArgument, message).into()
    }

    /// See its value instead.
    pub(super) fn exists(name: &Name) -> Self {
        let error = ApiError::new(Code::AlreadyExists, "semaphore already exists");
        let location = Some(format!("/semaphore/value/{}", name.in_a_path()));
        Self { status: StatusCode::SEE_OTHER, location, error }
    }

    /// Nothing went wrong: the value is 0, or somebody else is before this one.
    pub(super) fn locked() -> Self {
        let error = ApiError::new(Code::Locked, "Semaphore locked");
        Self { status: error.code.status(), location: None, error }
    }

    pub(super) fn answer(self, operation: &'static str, call: Call<'_>) -> Response {
        self.error.log(operation);
        call.failed(self.error.code);
        match self.location {
            Some(location) => {
                (self.status, [(LOCATION, location)], self.error.message).into_response()
            }
            None => (self.status, self.error.message).into_response(),
        }
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self { status: error.code.status(), location: None, error }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            // The namespace is made with the first of them.
            Error::NamespaceNotFound => ApiError::from(Error::SemaphoreNotFound).into(),
            other => ApiError::from(other).into(),
        }
    }
}
