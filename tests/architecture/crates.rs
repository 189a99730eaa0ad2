//! The layers of each crate, from the top to the bottom. A layer is a list of files and folders.

pub(crate) const CLIENT: &[&[&str]] = &[
    &["lib"],
    &["client"],
    &["engine"],
    &["scripts"],
    &["transport"],
    &["config", "error", "pagination", "types", "validate", "wire"],
];
