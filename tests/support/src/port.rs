//! Free ports of the loopback.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

// Below those that the system gives to outgoing connections: one of these could take the port of a
// server that restarts, even connect to itself there.
const FIRST: u64 = 10_000;
const COUNT: u64 = 20_000;

/// A port that nobody listened on a moment ago.
pub(crate) fn free_port() -> u16 {
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    std::iter::repeat_with(random_port).take(1_000).find(free).expect("a free port")
}

fn random_port() -> u16 {
    let random = RandomState::new().build_hasher().finish();
    u16::try_from(FIRST + random % COUNT).expect("below 65,536")
}
