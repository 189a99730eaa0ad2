//! `GET /v1/WatchSemaphore`: the states of a semaphore as server-sent events.
//!
//! What is not read yet is not made yet: a slow reader gets the latest state when it is ready for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_core::Stream;
use grackle_client::SemaphoreWatch;
use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::WatchSemaphoreRequest;

use crate::app::App;
use crate::error::{ApiError, Code};
use crate::json::shortened;
use crate::metrics::OpenWatch;

pub(crate) const NAME: &str = "WatchSemaphore";

/// Beside those that any call may be answered with.
pub(crate) const ERRORS: [Code; 5] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::ResourceExhausted,
    Code::Internal,
    Code::Unavailable,
];

/// A comment, after that long without an event: proxies cut what is silent.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new().route(&format!("/v1/{NAME}"), get(watch))
}

async fn watch(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let call = app.metrics.begin(NAME);
    match begin(&app, uri.query().unwrap_or_default()).await {
        Ok(events) => {
            call.answered(&());
            let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
            Sse::new(events).keep_alive(keep_alive).into_response()
        }
        Err(error) => {
            error.log(NAME);
            call.failed(error.code);
            error.into_response()
        }
    }
}

/// Up to the first event, so that an error is answered as any other.
async fn begin(app: &App, query: &str) -> Result<Events, ApiError> {
    let mut watch = app.client.watch_semaphore(request(query)?);
    let first = watch.next().await.transpose()?;
    Ok(Events { first, watch, _open: app.metrics.watch_opens() })
}

fn request(query: &str) -> Result<WatchSemaphoreRequest, ApiError> {
    let mut request = WatchSemaphoreRequest::default();
    for (field, value) in form_urlencoded::parse(query.as_bytes()) {
        let into = match &*field {
            "namespace_name" => &mut request.namespace_name,
            "semaphore_name" => &mut request.semaphore_name,
            _ => return Err(unknown(field.into_owned())),
        };
        if !into.is_empty() {
            let message = format!("{field}: given twice");
            return Err(ApiError::new(Code::InvalidArgument, message)
                .with_detail("field", field.into_owned()));
        }
        *into = value.into_owned();
    }
    Ok(request)
}

fn unknown(field: String) -> ApiError {
    let field = shortened(field);
    let message =
        format!("{field}: unknown parameter, expected `namespace_name` and `semaphore_name`");
    ApiError::new(Code::InvalidArgument, message).with_detail("field", field)
}

struct Events {
    first: Option<SemaphoreEvent>,
    watch: SemaphoreWatch,
    _open: OpenWatch,
}

impl Stream for Events {
    type Item = Result<Event, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => ready!(Pin::new(&mut self.watch).poll_next(context)),
        };
        // Once begun it can't end in an error answer. A reader that sees it end without `deleted`,
        // as this server stops, comes again: EventSource does by itself.
        Poll::Ready(next.and_then(Result::ok).and_then(event))
    }
}

fn event(event: SemaphoreEvent) -> Option<Result<Event, axum::Error>> {
    match event {
        SemaphoreEvent::Semaphore(semaphore) => {
            Some(Event::default().event("semaphore").json_data(semaphore))
        }
        // An event without data is none, by the standard.
        SemaphoreEvent::Deleted => Some(Ok(Event::default().event("deleted").data("{}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_and_what_is_unknown_is_named() {
        let read = request("namespace_name=a%2Db&semaphore_name=s").unwrap();
        assert_eq!((read.namespace_name.as_str(), read.semaphore_name.as_str()), ("a-b", "s"));
        let refused = request("namespace_name=n&name=s").unwrap_err();
        assert_eq!(refused.code, Code::InvalidArgument);
        assert_eq!(refused.details["field"], "name");
        let twice = request("namespace_name=n&namespace_name=m").unwrap_err();
        assert_eq!(
            (twice.code, &*twice.message),
            (Code::InvalidArgument, "namespace_name: given twice")
        );
    }
}
