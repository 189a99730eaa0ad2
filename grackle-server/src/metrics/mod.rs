//! What `/metrics` shows.
//!
//! - `calls`: calls of operations, counted and timed
//! - `semaphores`: the busiest semaphores

mod calls;
mod semaphores;

pub(crate) use calls::{Call, Metrics, OpenWatch};
pub(crate) use semaphores::render as render_semaphores;
