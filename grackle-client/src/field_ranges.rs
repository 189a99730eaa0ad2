//! The fixed ranges of fields; [`Limits`](crate::Limits) has those that an operator sets.

/// The most permits of a semaphore, and the largest weight: 2^53 − 1. Up to here doubles, which are the
/// numbers of Lua and JavaScript, are exact.
pub const MAX_PERMITS: i64 = (1 << 53) - 1;

/// The largest share of an acquire.
pub const MAX_SHARE: i64 = 1_000;

/// Bytes of the name of a namespace or semaphore.
pub const MAX_NAME: usize = 128;

/// Bytes of a process id.
pub const MAX_PROCESS_ID: usize = 256;

/// Bytes of a description.
pub const MAX_DESCRIPTION: usize = 1_024;

/// Entries of metadata.
pub const MAX_METADATA_ENTRIES: usize = 32;

/// Bytes of a key of metadata.
pub const MAX_METADATA_KEY: usize = 128;

/// Bytes of a value of metadata.
pub const MAX_METADATA_VALUE: usize = 256;

/// Entries of a page.
pub const MAX_PAGE: i64 = 250;

/// Entries of a page where the request does not say.
pub const DEFAULT_PAGE: i64 = 100;
