//! Metadata: labels of a record.

use std::collections::BTreeMap;

/// Free-form labels of a namespace, semaphore, lease or holder; Grackle does not interpret them.
///
/// At most 32 entries, keys of 1–128 bytes, values of at most 256 bytes.
pub type Metadata = BTreeMap<String, String>;
