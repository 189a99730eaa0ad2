//! The `docker` command.

use std::process::{Command, Stdio};

/// Runs it with these arguments; the error is what it said, or why it is not there.
pub fn docker(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("docker").args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("docker: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
