//! Acquiring permits.
//!
//! - `acquirer`: what acquires of one client share
//! - `pending`: one acquire, from the request to the answer

mod acquirer;
mod pending;

pub(crate) use acquirer::Acquirer;
pub(crate) use pending::{acquire, acquire_unacked};
