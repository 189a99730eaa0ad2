//! Plain semaphores: permits that no lease owns, taken by a down and given back by an up.
//!
//! - `downs`: takes a permit, waiting for it under a proxy lease
//! - `ups`: gives one back
//! - `proxy_leases`: the leases under which downs wait
//! - `acknowledged_tickets`: which calls Redis need not remember any more

mod acknowledged_tickets;
mod downs;
mod proxy_leases;
mod ups;

pub(crate) use acknowledged_tickets::AcknowledgedTickets;
pub(crate) use downs::Downs;
pub(crate) use proxy_leases::{LeasesInUse, ProxyLeases};
pub(crate) use ups::Ups;
