//! Limit and token of a page.

use serde::{Deserialize, Serialize};

/// The tokens of the pages around the one that was answered; empty if there is none.
///
/// A token is opaque and belongs to the list (and the filter) that gave it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page {
    /// The token of the next page; empty if there is none.
    pub next_pagination_token: String,
    /// The token of the previous page; empty if there is none.
    pub previous_pagination_token: String,
}
