//! A server, over HTTP/JSON.

use std::error::Error as StdError;
use std::io::ErrorKind;
use std::time::Duration;

use reqwest::{Client, Error, RequestBuilder, redirect};
use serde_json::Value;

use crate::case::{Request, Target};
use crate::transport::Transport;

/// Longer than any case takes.
const TIMEOUT: Duration = Duration::from_secs(120);
const CLOSED: [ErrorKind; 2] = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];

/// `POST /v1/<Operation>`, and whatever else a case asks for.
pub(crate) struct Http {
    client: Client,
    url: String,
}

impl Http {
    pub(crate) fn new(url: impl Into<String>) -> Self {
        let builder = Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none());
        let client = builder.no_proxy().build().expect("a client");
        Self { client, url: url.into() }
    }

    fn build(&self, request: Request) -> Result<RequestBuilder, String> {
        let (method, path) = match request.target {
            Target::Operation(operation) => ("POST".to_owned(), format!("/v1/{operation}")),
            Target::Path { method, path } => (method, path),
        };
        let method = method.parse().map_err(|_| format!("no method: {method}"))?;
        let mut builder = self.client.request(method, format!("{}{path}", self.url));
        if !request.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            builder = builder.header("content-type", "application/json");
        }
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        let body = request.text.or_else(|| request.with.map(|with| with.to_string()));
        Ok(builder.body(body.unwrap_or_default()))
    }
}

impl Transport for Http {
    async fn send(&self, request: Request) -> Result<(Value, Value), String> {
        match exchange(self.build(request)?).await {
            Ok((status, text)) => Ok((status.into(), parse(text))),
            Err(error) if is_closed(&error) => Ok(("closed".into(), Value::Null)),
            Err(error) => Err(format!("{error:?}")),
        }
    }
}

async fn exchange(request: RequestBuilder) -> Result<(u16, String), Error> {
    let response = request.send().await?;
    Ok((response.status().as_u16(), response.text().await?))
}

fn parse(text: String) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn is_closed(error: &Error) -> bool {
    let mut cause: Option<&dyn StdError> = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| CLOSED.contains(&error.kind())) {
            return true;
        }
        cause = error.source();
    }
    false
}
