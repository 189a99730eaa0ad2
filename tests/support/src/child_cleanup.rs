//! Ends what a test process started, even when that process is killed outright.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A shell that waits for its input to close, which the system does when this process ends in
/// whatever way, and then cleans up.
///
/// Dropped, it does nothing any more: whoever started it has cleaned up.
pub(crate) struct ChildCleanup(Child);

impl ChildCleanup {
    /// Kills the process `pid`, then removes `folder`.
    pub(crate) fn of_process(pid: u32, folder: &Path) -> Self {
        Self::start(r#"kill -9 "$1"; rm -rf "$2""#, &[pid.to_string().as_ref(), folder.as_ref()])
    }

    /// Removes the container of that name, and its volumes.
    pub(crate) fn of_container(name: &str) -> Self {
        Self::start(r#"docker rm -f -v "$1""#, &[name.as_ref()])
    }

    fn start(clean_up: &str, arguments: &[&std::ffi::OsStr]) -> Self {
        // Ctrl-C reaches every process of the terminal, this one too.
        let script = format!("trap '' INT TERM HUP; read -r _; {clean_up}");
        let shell = Command::new("sh")
            .args(["-c", &script, "child_cleanup"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(shell.expect("sh starts"))
    }
}

impl Drop for ChildCleanup {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
