//! Where the child's Unix socket is.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The system's limit is 107 bytes on Linux, 103 on macOS.
const LONGEST: usize = 100;

/// A path short enough for a socket, private to this user.
pub(super) struct Socket {
    path: PathBuf,
    _folder: Option<TempDir>,
}

impl Socket {
    /// In the data folder; where that path is too long, in a fresh folder for temporary files,
    /// with a link in the data folder that says where.
    pub(super) fn place(data_dir: &Path) -> io::Result<Self> {
        let usual = usual(data_dir);
        if usual.as_os_str().as_bytes().len() <= LONGEST {
            return Ok(Self { path: usual, _folder: None });
        }
        let folder = temporary_folder()?;
        let path = folder.path().join("redis.sock");
        symlink(&path, usual)?;
        Ok(Self { path, _folder: Some(folder) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Where an earlier server placed its socket.
pub(super) fn last(data_dir: &Path) -> PathBuf {
    let usual = usual(data_dir);
    fs::read_link(&usual).unwrap_or(usual)
}

/// Removes what an earlier server left in the way.
pub(super) fn clear(data_dir: &Path) -> io::Result<()> {
    let (usual, last) = (usual(data_dir), last(data_dir));
    if last != usual {
        // Left to the system's own cleaning where it cannot be removed.
        let _ = fs::remove_file(&last);
        let _ = last.parent().map(fs::remove_dir);
    }
    match fs::remove_file(usual) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn usual(data_dir: &Path) -> PathBuf {
    data_dir.join("redis.sock")
}

fn temporary_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("grackle-").permissions(Permissions::from_mode(0o700));
    let folder = builder.tempdir()?;
    if folder.path().as_os_str().len() + "/redis.sock".len() <= LONGEST {
        return Ok(folder);
    }
    builder.tempdir_in("/tmp")
}
