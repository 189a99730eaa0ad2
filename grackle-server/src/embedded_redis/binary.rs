//! Finds the program to run.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::error::EmbeddedRedisError;

const NAMES: [&str; 2] = ["valkey-server", "redis-server"];

pub(super) fn find() -> Result<PathBuf, EmbeddedRedisError> {
    find_in(&env::var_os("PATH").unwrap_or_default()).ok_or(EmbeddedRedisError::NoBinary)
}

pub(super) fn find_in(path: &OsStr) -> Option<PathBuf> {
    let folders: Vec<_> = env::split_paths(path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |at| at.join(name)));
    candidates.into_iter().find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    let metadata = file.metadata().ok().filter(|found| found.is_file());
    metadata.is_some_and(|found| found.permissions().mode() & 0o111 != 0)
}
