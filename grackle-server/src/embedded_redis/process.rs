//! One run of the child.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

/// Runs its arguments in its own place, beside a watcher that ends them when our end of the pipe
/// is closed without a word: when this process is gone, however it went. (Linux' own means for
/// that, the parent-death signal, would take `unsafe` code; macOS has none.)
const BOUND_TO_US: &str = r#"
exec 3<&0
(read -r word <&3 || kill -TERM $$) &
exec "$@" 3<&- </dev/null
"#;

const END_WITHIN: Duration = Duration::from_secs(10);

/// A command that ends when we do.
pub(super) fn bound_to_us(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", BOUND_TO_US, "grackle"]).arg(program);
    command
}

pub(super) struct Process {
    child: Child,
    /// Held open as long as the child shall live.
    pipe: Option<ChildStdin>,
}

impl Process {
    pub(super) fn spawn(mut command: Command, log: File) -> io::Result<Self> {
        let log_too = log.try_clone()?;
        command.stdin(Stdio::piped()).stdout(log).stderr(log_too);
        // Ctrl-C goes to the terminal's whole group, but the child must outlive our last calls.
        command.process_group(0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take();
        Ok(Self { child, pipe })
    }

    /// Waits for its end. Dropping the future changes nothing.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.dismiss_watcher().await;
        status
    }

    /// Ends it, its data written; kills it where that takes too long.
    pub(super) async fn stop(mut self) {
        self.terminate();
        if timeout(END_WITHIN, self.ended()).await.is_err() {
            tracing::warn!("the private Redis does not end: killing it");
            let _ = self.child.start_kill();
            let _ = self.ended().await;
        }
    }

    fn terminate(&self) {
        // `id` is None once it was reaped, so the number cannot be another process' by now.
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(Err(error)) = pid.map(|pid| kill_process(pid, Signal::TERM)) {
            tracing::warn!(%error, "cannot ask the private Redis to end");
        }
    }

    /// A word in the pipe: there is nobody left to end, and the number may soon be another's.
    async fn dismiss_watcher(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"\n").await;
        }
    }
}

/// The last line of a log, for a message about its end.
pub(super) fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word").to_owned()
}
