//! A private Redis or Valkey: it runs where no Redis URL is given.
//!
//! It listens on a Unix socket alone, keeps an append-only file in the data folder, is started again when
//! it dies, and ends with the server, even with one that was killed.
//!
//! - `child`: from its start to its end
//! - `binary`, `data_dir`, `socket`: what it is started with
//! - `launch`, `probe`: starting it, and waiting until its data is loaded
//! - `process`, `supervisor`: keeping it running
//! - `orphan`: ending one that a killed server has left

mod binary;
mod child;
mod data_dir;
mod error;
mod launch;
mod orphan;
mod probe;
mod process;
mod socket;
mod supervisor;

pub(crate) use child::EmbeddedRedis;
pub use error::EmbeddedRedisError;
