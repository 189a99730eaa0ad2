//! `/openapi.json`: the operations, their types and errors, as OpenAPI 3.1.
//!
//! - `document`: the whole
//! - `schemas`: the types, derived from those of [`grackle_client::wire`]
//! - `constraints`: the ranges of fields
//! - `examples`: a request of each operation
//! - `plain_semaphores`: the paths of `/semaphore`

mod constraints;
mod document;
mod examples;
mod plain_semaphores;
mod schemas;

pub(crate) use document::document;
