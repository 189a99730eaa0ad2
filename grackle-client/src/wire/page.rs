use serde::{Deserialize, Serialize};

/// Tokens of the pages around the one that was answered; empty where there is none.
///
/// A token is opaque and belongs to the list (and the filter) that gave it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// `pagination_token` of the page behind this one, or empty.
    pub next_pagination_token: String,
    /// `pagination_token` of the page before this one, or empty.
    pub previous_pagination_token: String,
}
