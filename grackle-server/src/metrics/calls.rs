//! The calls of operations, counted and timed.
//!
//! Each server has its own recorder, so that two in one process do not count together.

use std::time::{Duration, Instant};

use grackle_client::wire::{AcquireOutcome, AcquireSemaphoreResponse};
use metrics::{Gauge, counter, describe_counter, describe_gauge, describe_histogram};
use metrics::{gauge, histogram, with_local_recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};

use crate::error::Code;
use crate::operation::Operation;

const REQUESTS: &str = "grackle_http_requests_total";
const DURATION: &str = "grackle_http_request_duration_seconds";
const IN_FLIGHT: &str = "grackle_http_requests_in_flight";
const WAITING: &str = "grackle_acquires_waiting";
const WATCHES: &str = "grackle_watches_open";
const OUTCOMES: &str = "grackle_acquire_outcomes_total";
const ACKED: &str = "grackle_acquire_acked_replicas_total";
const BUILD: &str = "grackle_build_info";

/// Seconds; from one script's time to the longest wait.
const BUCKETS: [f64; 17] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
    600.0, 3600.0,
];

/// The numbers of one server.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    in_flight: Gauge,
    waiting: Gauge,
    watches: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        // Only an empty list of buckets is refused.
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS).unwrap_or_default();
        let recorder = builder.build_recorder();
        let (in_flight, waiting, watches) = with_local_recorder(&recorder, || {
            describe();
            begin_at_zero();
            (gauge!(IN_FLIGHT), gauge!(WAITING), gauge!(WATCHES))
        });
        Self { recorder, in_flight, waiting, watches }
    }

    /// The text form of Prometheus.
    pub(crate) fn render(&self) -> String {
        self.recorder.handle().render()
    }

    /// Never ends. Without it the samples of a server that nobody scrapes pile up.
    pub(crate) async fn upkeep(&self) {
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            self.recorder.handle().run_upkeep();
        }
    }

    /// A stream of WatchSemaphore begins; its call is answered by then.
    pub(crate) fn watch_opens(&self) -> OpenWatch {
        self.watches.increment(1);
        OpenWatch(self.watches.clone())
    }

    /// A call has come in; it is counted when this is dropped.
    pub(crate) fn begin(&self, operation: Operation) -> Call<'_> {
        let waiting = operation.waits().then_some(&self.waiting);
        self.in_flight.increment(1);
        waiting.inspect(|gauge| gauge.increment(1));
        Call { metrics: self, waiting, operation, began: Instant::now(), code: "Cancelled" }
    }
}

/// A stream of WatchSemaphore, for as long as it is open.
pub(crate) struct OpenWatch(Gauge);

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

/// One call, from its head to its answer; dropped before that, its caller has hung up.
pub(crate) struct Call<'a> {
    metrics: &'a Metrics,
    waiting: Option<&'a Gauge>,
    operation: Operation,
    began: Instant,
    code: &'static str,
}

impl Call<'_> {
    pub(crate) fn answered(mut self) {
        self.code = "OK";
    }

    /// The call is an acquire that ended so.
    pub(crate) fn acquire_ended(&mut self, answer: &AcquireSemaphoreResponse) {
        let outcome = outcome(answer.outcome);
        with_local_recorder(&self.metrics.recorder, || {
            counter!(OUTCOMES, "outcome" => outcome).increment(1);
            if let Some(replicas) = answer.acked_replicas {
                counter!(ACKED, "replicas" => replicas.to_string()).increment(1);
            }
        });
    }

    pub(crate) fn failed(mut self, code: Code) {
        self.code = code.word();
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let (operation, code) = (self.operation.name(), self.code);
        self.metrics.in_flight.decrement(1);
        self.waiting.inspect(|gauge| gauge.decrement(1));
        with_local_recorder(&self.metrics.recorder, || {
            counter!(REQUESTS, "operation" => operation, "code" => code).increment(1);
            histogram!(DURATION, "operation" => operation).record(self.began.elapsed());
        });
    }
}

fn describe() {
    describe_counter!(REQUESTS, "Calls answered, by operation and code; Cancelled: hung up");
    describe_histogram!(DURATION, "Seconds from a call's head to its answer, by operation");
    describe_gauge!(IN_FLIGHT, "Calls not yet answered");
    describe_gauge!(WAITING, "Calls of AcquireSemaphore and DownHttpSemaphore not yet answered");
    describe_gauge!(WATCHES, "Streams of WatchSemaphore and WatchHttpSemaphore that are open");
    describe_counter!(OUTCOMES, "How calls of AcquireSemaphore ended, where not with an error");
    describe_counter!(
        ACKED,
        "Grants that waited for replicas, by how many were known to have them"
    );
    describe_gauge!(BUILD, "1, labelled with the server's version");
}

/// Rates need a first value to rise from.
fn begin_at_zero() {
    for operation in Operation::all() {
        counter!(REQUESTS, "operation" => operation.name(), "code" => "OK").absolute(0);
    }
    for ended in [AcquireOutcome::Acquired, AcquireOutcome::Unavailable, AcquireOutcome::TimedOut] {
        counter!(OUTCOMES, "outcome" => outcome(ended)).absolute(0);
    }
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1);
}

fn outcome(outcome: AcquireOutcome) -> &'static str {
    match outcome {
        AcquireOutcome::Unspecified => "unspecified",
        AcquireOutcome::Acquired => "acquired",
        AcquireOutcome::Unavailable => "unavailable",
        AcquireOutcome::TimedOut => "timed_out",
    }
}

#[cfg(test)]
mod tests;
