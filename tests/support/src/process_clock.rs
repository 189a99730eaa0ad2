//! The time of day of a process, which a test can step. libfaketime makes it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use tempfile::NamedTempFile;

/// Where the library is, if not where Debian puts it.
const LIBRARY: &str = "GRACKLE_TEST_FAKETIME";
const DEBIAN: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

/// A clock for processes; it shows the machine's time until it is stepped. What runs on the
/// monotonic clock, as timers do, runs on undisturbed.
#[derive(Clone)]
pub struct ProcessClock {
    library: PathBuf,
    offset: Arc<NamedTempFile>,
}

impl ProcessClock {
    /// None where the machine has no libfaketime.
    pub fn new() -> Option<Self> {
        let named = std::env::var_os(LIBRARY).map(PathBuf::from);
        let candidates = named.into_iter().chain(DEBIAN.map(PathBuf::from));
        let library = candidates.into_iter().find(|library| library.is_file())?;
        let offset = NamedTempFile::with_prefix("grackle-clock-").expect("a temporary file");
        let clock = Self { library, offset: Arc::new(offset) };
        clock.step_to(0);
        Some(clock)
    }

    /// From now on it is so many seconds ahead of the machine's, or behind: within a second.
    pub fn step_to(&self, seconds: i32) {
        std::fs::write(self.offset.path(), format!("{seconds:+}\n")).expect("the file is there");
    }

    /// Has a process that is about to start go by this clock.
    pub fn govern(&self, command: &mut Command) {
        // Beside libc's own malloc: jemalloc looks at the clock before libfaketime can tell it.
        let mut libraries = self.library.clone().into_os_string();
        libraries.push(":libc.so.6");
        command.env("LD_PRELOAD", libraries);
        command.env("FAKETIME_TIMESTAMP_FILE", self.offset.path());
        // How long, in seconds, it goes by what it has read; not to read the file at each look.
        command.env("FAKETIME_CACHE_DURATION", "1");
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
}
