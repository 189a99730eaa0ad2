//! The data folder, and the lock that gives it to one server at a time.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::error::EmbeddedRedisError;

pub(super) struct DataDir {
    path: PathBuf,
    /// Locked as long as it is open; the system lets go of it when the process ends.
    lock: File,
}

impl DataDir {
    /// Makes the folder where it is missing, and locks it.
    pub(super) fn open(path: &Path) -> Result<Self, EmbeddedRedisError> {
        let path = create(path).map_err(EmbeddedRedisError::at(path))?;
        let file = path.join("grackle.lock");
        let opened = OpenOptions::new().create(true).append(true).open(&file);
        let lock = opened.map_err(EmbeddedRedisError::at(&file))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from) {
            Ok(()) => Ok(Self { path, lock }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(EmbeddedRedisError::InUse(path))
            }
            Err(error) => Err(EmbeddedRedisError::at(file)(error)),
        }
    }

    /// Absolute.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // Closing it would not do: a process that is just being forked has it open, too.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

fn create(path: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    path.canonicalize()
}
