//! Plain.

pub(crate) mod acknowledged;
pub(crate) mod down;
pub(crate) mod proxy_lease;
