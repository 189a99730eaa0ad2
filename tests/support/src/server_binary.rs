//! The server's binary, built beside the test that asks for it.

use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::sync::OnceCell;

const NAME: &str = "grackle-server";

static BUILT: OnceCell<PathBuf> = OnceCell::const_new();

/// Its path; the first call lets cargo see that it is up to date.
pub(crate) async fn path() -> PathBuf {
    let build = || async { tokio::task::spawn_blocking(build).await.expect("no panic") };
    BUILT.get_or_init(build).await.clone()
}

// A test of the root package depends on the server's library only; nothing else builds the binary.
// With a test beside it, cargo takes the features of the tests' build, and so its libraries.
fn build() -> PathBuf {
    let folder = profile_folder();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--workspace", "--bin", NAME, "--test", "topologies"]);
    command.args(["--profile", profile(&folder)]);
    command.arg("--target-dir").arg(folder.parent().expect("a target folder"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What cargo tells a test of its package: build scripts that look at it would run again, here
    // and when cargo is next called outside, and half of what there is be built anew each time.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    let status = command.status().expect("cargo runs");
    assert!(status.success(), "{command:?}: {status}");
    folder.join(NAME)
}

/// `target/debug` for a test at `target/debug/deps/name-0123`.
fn profile_folder() -> PathBuf {
    let me = std::env::current_exe().expect("a path");
    me.ancestors().nth(2).expect("cargo's folders").to_owned()
}

fn profile(folder: &Path) -> &str {
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    }
}
