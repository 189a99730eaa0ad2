//! How long something took, many times over.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::common::Failure;

/// Durations, kept to three digits.
pub(crate) struct Times(Histogram<u64>);

impl Times {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self(Histogram::new(3)?))
    }

    pub(crate) fn add(&mut self, time: Duration) -> Result<(), Failure> {
        self.0.record(u64::try_from(time.as_micros())?)?;
        Ok(())
    }

    /// Milliseconds that this share of them, 0 to 1, took at most.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1_000.0
    }
}
