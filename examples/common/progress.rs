//! How far an example has come.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar in a terminal, a line for each tenth elsewhere; on standard error, beside the results.
pub(crate) struct Progress {
    what: &'static str,
    total: u64,
    done: AtomicU64,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| bar(what, total));
        Self { what, total, done: AtomicU64::new(0), bar }
    }

    /// One more is done.
    pub(crate) fn add(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.bar {
            Some(bar) => bar.inc(1),
            None if self.is_a_tenth(done) => eprintln!("{done} of {} {}", self.total, self.what),
            None => {}
        }
    }

    fn is_a_tenth(&self, done: u64) -> bool {
        done * 10 / self.total > (done - 1) * 10 / self.total
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} {msg}");
    ProgressBar::new(total)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}
