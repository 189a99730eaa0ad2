//! A server as a child process, with the signals of fault tests.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::child_cleanup::ChildCleanup;
use super::eventually::eventually;

/// A child process that ends with its owner, whatever ends the owner.
pub struct Process {
    child: Child,
    child_cleanup: Option<ChildCleanup>,
}

impl Process {
    /// Starts it; `folder` is what it leaves behind if this process is killed.
    pub fn start(mut command: Command, folder: &Path) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let child_cleanup = Some(ChildCleanup::of_process(child.id(), folder));
        Self { child, child_cleanup }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM: asks it to end, and waits until it has.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended(Duration::from_secs(30)).await
    }

    /// SIGKILL: ends it between two instructions.
    pub fn kill(&mut self) {
        // First: once the child is waited for, its id may be another's.
        self.child_cleanup = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGSTOP: it stands still, its connections stay open.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT: it goes on after [`Process::stop`].
    pub fn cont(&self) {
        self.signal(Signal::CONT);
    }

    /// How it ended, if it has.
    pub fn status(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().expect("a child can be waited for");
        if status.is_some() {
            self.child_cleanup = None;
        }
        status
    }

    /// Waits until it has ended.
    pub async fn ended(&mut self, within: Duration) -> ExitStatus {
        let id = self.id();
        eventually(&format!("process {id} ends"), within, async || self.status()).await
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the process is there");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
