//! The ranges of the requests' fields: wrong ones are named before anything is sent.

use crate::config::Limits;
use crate::error::Error;
use crate::field_ranges::{
    MAX_DESCRIPTION, MAX_METADATA_ENTRIES as MAX_ENTRIES, MAX_METADATA_KEY as MAX_KEY,
    MAX_METADATA_VALUE as MAX_VALUE, MAX_NAME, MAX_PERMITS, MAX_PROCESS_ID, MAX_SHARE,
};
use crate::types::random_id;
use crate::wire::Metadata;

/// `ls_` and 28 base-62 characters.
const LEASE_PREFIX: &str = "ls_";
const LEASE_RANDOM: usize = 28;
/// Of the leases under which downs wait (`proxy` in Lua).
pub(crate) const PROXY_LEASE_PREFIX: &str = "proxy_";

fn check(holds: bool, field: &'static str, reason: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidField { field, reason: reason() }) }
}

/// Whether that can be the name of a namespace or of a semaphore: 1–128 of `A-Z a-z 0-9 _ -`.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

pub(crate) fn name(field: &'static str, name: &str) -> Result<(), Error> {
    check(is_name(name), field, || format!("must be 1 to {MAX_NAME} of A-Z a-z 0-9 _ -"))
}

pub(crate) fn namespace_name(namespace: &str) -> Result<(), Error> {
    name("namespace_name", namespace)
}

/// The two names of a semaphore.
pub(crate) fn names(namespace: &str, semaphore: &str) -> Result<(), Error> {
    namespace_name(namespace)?;
    name("semaphore_name", semaphore)
}

pub(crate) fn lease_id(id: &str) -> Result<(), Error> {
    let random = id.strip_prefix(LEASE_PREFIX).unwrap_or_default();
    let holds =
        random.len() == LEASE_RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    check(holds, "lease_id", || format!("must be {LEASE_PREFIX} and {LEASE_RANDOM} of A-Z a-z 0-9"))
}

pub(crate) fn new_lease_id() -> String {
    format!("{LEASE_PREFIX}{}", random_id(LEASE_RANDOM))
}

/// The id of a proxy lease: no request can name it.
pub(crate) fn new_proxy_lease_id() -> String {
    format!("{PROXY_LEASE_PREFIX}{}", random_id(LEASE_RANDOM))
}

pub(crate) fn process_id(id: &str) -> Result<(), Error> {
    check((1..=MAX_PROCESS_ID).contains(&id.len()), "process_id", || {
        format!("must be 1 to {MAX_PROCESS_ID} bytes")
    })
}

/// A filter by process: empty for none.
pub(crate) fn process_filter(id: &str) -> Result<(), Error> {
    if id.is_empty() { Ok(()) } else { process_id(id) }
}

pub(crate) fn description(text: &str) -> Result<(), Error> {
    check(text.len() <= MAX_DESCRIPTION, "description", || {
        format!("must be at most {MAX_DESCRIPTION} bytes")
    })
}

pub(crate) fn metadata(metadata: &Metadata) -> Result<(), Error> {
    check(metadata.len() <= MAX_ENTRIES, "metadata", || {
        format!("must have at most {MAX_ENTRIES} entries")
    })?;
    let keys = metadata.keys().all(|key| (1..=MAX_KEY).contains(&key.len()));
    check(keys, "metadata", || format!("keys must be 1 to {MAX_KEY} bytes"))?;
    let values = metadata.values().all(|value| value.len() <= MAX_VALUE);
    check(values, "metadata", || format!("values must be at most {MAX_VALUE} bytes"))
}

/// A number of permits: a semaphore's, or an acquire's weight.
pub(crate) fn permits(field: &'static str, permits: i64) -> Result<(), Error> {
    check((1..=MAX_PERMITS).contains(&permits), field, || format!("must be 1 to {MAX_PERMITS}"))
}

/// A semaphore's own bound; 0 for none.
pub(crate) fn max_waiters(most: i64) -> Result<(), Error> {
    check((0..=MAX_PERMITS).contains(&most), "max_waiters", || {
        format!("must be 0 to {MAX_PERMITS}")
    })
}

/// A process's share, 0 meaning 1.
pub(crate) fn share(share: i64) -> Result<(), Error> {
    check((0..=MAX_SHARE).contains(&share), "share", || format!("must be 0 to {MAX_SHARE}"))
}

pub(crate) fn expected_version(version: i64) -> Result<(), Error> {
    check(version >= 1, "expected_version", || "must be at least 1".to_owned())
}

pub(crate) fn ttl(seconds: i64, limits: &Limits) -> Result<(), Error> {
    let most = limits.max_lease_ttl_seconds;
    check((1..=most).contains(&seconds), "ttl_seconds", || {
        format!("must be 1 to {most} (max_lease_ttl_seconds)")
    })
}

pub(crate) fn timeout(seconds: i64, limits: &Limits) -> Result<(), Error> {
    let most = limits.max_acquire_timeout_seconds;
    check((0..=most).contains(&seconds), "timeout_seconds", || {
        format!("must be 0 to {most} (max_acquire_timeout_seconds)")
    })
}
