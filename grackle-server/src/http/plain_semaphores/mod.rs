//! Plain semaphores over HTTP: created with a value, taken by a down, given back by an up of anybody.
//!
//! Each is a Grackle semaphore in a namespace of its own, whose downs are ownerless holds. Its value is
//! the number of permits that nobody holds. Answers are JSON with `name` and `value`, or a line of text,
//! like those of the Node-RED package (`docs/node-red.md`).
//!
//! - `routes`: the paths
//! - `body`, `name`: what a request says
//! - `value`: what an answer shows
//! - `error`: answers that show no value
//! - `value_stream`: the values as they change

mod body;
mod error;
mod name;
mod routes;
mod value;
mod value_stream;

pub(in crate::http) use routes::router;
