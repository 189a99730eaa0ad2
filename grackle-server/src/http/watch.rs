//! `GET /v1/WatchSemaphore`: the states of a semaphore as server-sent events.
//!
//! An event is made only when it can be sent: a slow reader gets the latest state.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::extract;
use axum::http::Uri;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_core::Stream;
use grackle_client::SemaphoreWatch;
use grackle_client::types::SemaphoreEvent;
use grackle_client::wire::WatchSemaphoreRequest;

use crate::error::{ApiError, Code};
use crate::http::json::shortened;
use crate::http::state::State;
use crate::metrics::OpenWatch;
use crate::operation::Operation;

const OPERATION: Operation = Operation::WatchSemaphore;

/// After that long without an event a comment is sent, since proxies cut silent connections.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn router() -> Router<Arc<State>> {
    Router::new().route("/v1/WatchSemaphore", get(watch))
}

async fn watch(extract::State(state): extract::State<Arc<State>>, uri: Uri) -> Response {
    let call = state.metrics.begin(OPERATION);
    match begin(&state, uri.query().unwrap_or_default()).await {
        Ok(events) => {
            call.answered();
            let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
            Sse::new(events).keep_alive(keep_alive).into_response()
        }
        Err(error) => {
            error.log(OPERATION.name());
            call.failed(error.code);
            error.into_response()
        }
    }
}

/// Waits for the first event, so that an error is answered like any other.
async fn begin(state: &State, query: &str) -> Result<Events, ApiError> {
    let mut watch = state.client.watch_semaphore(request(query)?);
    let first = watch.next().await.transpose()?;
    Ok(Events { first, watch, _open: state.metrics.watch_opens() })
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
        // A stream that has begun can't end in an error answer. A reader that sees it end without
        // `deleted`, because this server stops, reconnects: EventSource does so by itself.
        Poll::Ready(next.and_then(Result::ok).and_then(event))
    }
}

fn event(event: SemaphoreEvent) -> Option<Result<Event, axum::Error>> {
    match event {
        SemaphoreEvent::Semaphore(semaphore) => {
            Some(Event::default().event("semaphore").json_data(semaphore))
        }
        // By the standard an event without data is ignored.
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
