//! What a disk has of a server's files, and what it loses when the machine dies.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// How long each file of a folder was at a moment.
///
/// An append-only file only grows: cut back, it is what a disk has that was not told the rest.
pub struct Disk {
    lengths: Vec<(PathBuf, u64)>,
}

impl Disk {
    /// As the folder is now.
    pub fn of(folder: &Path) -> Self {
        let mut lengths = Vec::new();
        note(folder, &mut lengths);
        Self { lengths }
    }

    /// What was written since is lost.
    pub fn lose_the_rest(&self) {
        for (path, length) in &self.lengths {
            let file = OpenOptions::new().write(true).open(path).expect("it is still there");
            file.set_len(*length).expect("it can be cut back");
        }
    }
}

fn note(folder: &Path, lengths: &mut Vec<(PathBuf, u64)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // Redis 7 keeps the parts of the file in a folder of their own.
        if path.is_dir() {
            note(&path, lengths);
        } else if path.to_string_lossy().contains("appendonly") {
            let length = path.metadata().expect("a file").len();
            lengths.push((path, length));
        }
    }
}
