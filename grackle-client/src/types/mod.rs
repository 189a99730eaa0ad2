//! Values of the SDK alone, in Rust's terms; [`wire`](crate::wire) has those of the protocol.

mod event;
mod load;
mod random_id;
mod semaphore_name;

pub use event::SemaphoreEvent;
pub use load::{LoadSample, SemaphoreLoad};
pub(crate) use random_id::{random_id, random_unit};
pub(crate) use semaphore_name::SemaphoreName;
