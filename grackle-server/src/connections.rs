//! Accepts connections, serves HTTP/1.1 and HTTP/2 on each, and ends them gracefully.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A blocked call is one stream: a gateway may keep very many on one connection.
const MAX_STREAMS: u32 = 10_000;

/// When a peer that is gone without closing is noticed: its calls may wait in a queue.
const PROBE_AFTER: Duration = Duration::from_secs(15);
const PROBE_EVERY: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;

/// The time limits of connections.
#[derive(Clone, Copy)]
pub(crate) struct TimeLimits {
    /// For the head of a request, and so also between two requests.
    pub(crate) idle: Duration,
    /// For all calls in flight, once the server stops.
    pub(crate) drain: Duration,
}

/// Serves until `stop`, then until the last call in flight is answered or its time is up.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: TimeLimits,
    stop: CancellationToken,
) {
    let connections = TaskTracker::new();
    let abort = CancellationToken::new();
    // Dropping this future ends the connections too.
    let cut_off = abort.clone().drop_guard();
    let host = Arc::new(Host { protocol: protocol(limits.idle), router, limits, stop, abort });
    while let Some(stream) = host.stop.run_until_cancelled(accept(&listener)).await {
        connections.spawn(Arc::clone(&host).serve(stream));
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(limits.drain, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "cutting off calls that are still in flight");
    }
    drop(cut_off);
    connections.wait().await;
}

fn protocol(idle: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(idle);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PROBE_AFTER)
        .keep_alive_timeout(PROBE_EVERY * PROBES)
        .max_concurrent_streams(MAX_STREAMS);
    builder
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                // For example, no file descriptor is free. Without the pause this loop would spin.
                tracing::warn!(%error, "could not accept a connection; retrying");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// What the connections of one server share.
struct Host {
    protocol: Builder<TokioExecutor>,
    router: Router,
    limits: TimeLimits,
    stop: CancellationToken,
    abort: CancellationToken,
}

impl Host {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        if let Err(error) = prepare(&stream) {
            tracing::debug!(%error, "cannot set a connection's options");
        }
        tokio::select! {
            () = self.converse(stream) => {}
            () = self.abort.cancelled() => {}
        }
    }

    async fn converse(&self, stream: TcpStream) {
        let request_seen = AtomicBool::new(false);
        let service = service_fn(|request| {
            request_seen.store(true, Ordering::Relaxed);
            self.respond(request)
        });
        let mut connection = pin!(self.protocol.serve_connection(TokioIo::new(stream), service));
        let mut stopping = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    return ended.unwrap_or_else(|error| tracing::debug!(error, "connection ended"));
                }
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.idle_limit(), if !request_seen.load(Ordering::Relaxed) => {
                    if !request_seen.load(Ordering::Relaxed) { return; }
                }
            }
        }
    }

    /// hyper's own limit begins only when it knows the HTTP version of a connection.
    async fn idle_limit(&self) {
        tokio::time::sleep(self.limits.idle).await;
    }

    fn respond(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response, Infallible>> + use<> {
        TowerToHyperService::new(self.router.clone()).call(request)
    }
}

fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
    SockRef::from(stream).set_tcp_keepalive(&keepalive.with_retries(PROBES))
}
