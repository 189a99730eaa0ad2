//! The limits as flags; names and defaults are those of [`grackle_client::Limits`].

use grackle_client::Limits;

macro_rules! limits {
    ($($(#[doc = $about:literal])+ $field:ident: $number:ty = $env:literal;)*) => {
        /// The most that there may be of everything; checked by the client.
        #[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
        #[command(next_help_heading = "Limits")]
        #[non_exhaustive]
        pub struct LimitArgs {
            $(
                $(#[doc = $about])+
                #[arg(long, env = $env, value_name = "N", default_value_t = Limits::default().$field)]
                pub $field: $number,
            )*
        }

        impl Default for LimitArgs {
            fn default() -> Self {
                let limits = Limits::default();
                Self { $($field: limits.$field),* }
            }
        }

        impl LimitArgs {
            pub(crate) fn to_limits(&self) -> Limits {
                let mut limits = Limits::default();
                $(limits.$field = self.$field;)*
                limits
            }
        }
    };
}

limits! {
    /// Longest life of a lease, in seconds
    max_lease_ttl_seconds: i64 = "GRACKLE_MAX_LEASE_TTL_SECONDS";
    /// Longest wait of an acquire, in seconds
    max_acquire_timeout_seconds: i64 = "GRACKLE_MAX_ACQUIRE_TIMEOUT_SECONDS";
    /// Namespaces
    max_namespaces: u64 = "GRACKLE_MAX_NAMESPACES";
    /// Semaphores a namespace
    max_semaphores: u64 = "GRACKLE_MAX_SEMAPHORES";
    /// Leases a namespace
    max_leases: u64 = "GRACKLE_MAX_LEASES";
    /// Holders a semaphore
    max_holders: u64 = "GRACKLE_MAX_HOLDERS";
    /// Waiters a semaphore
    max_waiters: u64 = "GRACKLE_MAX_WAITERS";
    /// Holds, and waits for one, a lease
    max_holds_per_lease: u64 = "GRACKLE_MAX_HOLDS_PER_LEASE";
    /// Streams of WatchSemaphore that are open through a server
    max_watches: u64 = "GRACKLE_MAX_WATCHES";
    /// Semaphores of which a server keeps what it sees, for /metrics and convoys
    max_observed_semaphores: u64 = "GRACKLE_MAX_OBSERVED_SEMAPHORES";
}
