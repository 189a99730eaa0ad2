//! Settings.
//!
//! - `settings`: flags and environment variables
//! - `limits`: the limits among them
//! - `redis_url`: URLs without their secrets

mod limits;
pub(crate) mod redis_url;
mod settings;

pub use limits::LimitArgs;
pub use settings::{Config, LogFormat};
