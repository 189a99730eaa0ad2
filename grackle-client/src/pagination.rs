//! Pagination tokens: opaque outside, and good only for the list that gave them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::field_ranges::{DEFAULT_PAGE, MAX_PAGE};
use crate::wire::Page;

/// The place of an entry in its list: its score, as Redis writes it, and its name. A score need not
/// be an integer, and as a text it keeps all its digits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Edge(pub String, pub String);

/// A page, with the edges from which the pages around it go on.
#[derive(Debug, Deserialize)]
pub struct PageReply<T> {
    /// In the order of the list.
    pub entries: Vec<T>,
    /// What its order goes by, where that may change.
    pub order: Option<String>,
    /// The first entry, where others come before it.
    pub before: Option<Edge>,
    /// The last entry, where others come after it.
    pub after: Option<Edge>,
}

/// Where a page begins.
#[derive(Debug, Clone)]
pub enum PageStart {
    /// At the first entry.
    First,
    /// Behind this entry.
    After(Edge),
    /// Before this entry.
    Before(Edge),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    /// The list and its filter.
    list: String,
    /// What it went by, where that may change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    order: String,
    after: bool,
    edge: Edge,
}

/// Where the page that a request asks for begins.
pub(crate) fn from(token: &str, list: &[&str]) -> Result<PageStart, Error> {
    let (start, order) = from_ordered(token, list)?;
    if order.is_empty() { Ok(start) } else { Err(broken()) }
}

/// The same of a list whose order may change, and the order that it had; none for the first page.
pub(crate) fn from_ordered(token: &str, list: &[&str]) -> Result<(PageStart, String), Error> {
    if token.is_empty() {
        return Ok((PageStart::First, String::new()));
    }
    let json = URL_SAFE_NO_PAD.decode(token).map_err(|_| broken())?;
    let Token { list: whose, order, after, edge } =
        serde_json::from_slice(&json).map_err(|_| broken())?;
    if whose != name(list) || !is_score(&edge.0) {
        return Err(broken());
    }
    Ok((if after { PageStart::After(edge) } else { PageStart::Before(edge) }, order))
}

fn broken() -> Error {
    Error::InvalidField {
        field: "pagination_token",
        reason: "not a token that this list gave".to_owned(),
    }
}

/// Redis compares with it as a number.
fn is_score(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The size of the page that a request asks for.
pub(crate) fn limit(limit: i64) -> Result<i64, Error> {
    match limit {
        0 => Ok(DEFAULT_PAGE),
        1..=MAX_PAGE => Ok(limit),
        _ => Err(Error::InvalidField {
            field: "limit",
            reason: format!("1 to {MAX_PAGE}, or 0 for {DEFAULT_PAGE}"),
        }),
    }
}

/// The tokens of the pages around a reply.
pub(crate) fn page<T>(reply: &PageReply<T>, list: &[&str]) -> Page {
    let token = |edge: &Option<Edge>, after| match edge {
        Some(edge) => {
            let order = reply.order.clone().unwrap_or_default();
            encode(&Token { list: name(list), order, after, edge: edge.clone() })
        }
        None => String::new(),
    };
    Page {
        next_pagination_token: token(&reply.after, true),
        previous_pagination_token: token(&reply.before, false),
    }
}

fn name(list: &[&str]) -> String {
    // No namespace or semaphore has a slash in its name, and a process comes last.
    list.join("/")
}

fn encode(token: &Token) -> String {
    // Strings, a number and a flag: they have a JSON form.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(token).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a number that a double written with 15 digits would come back as.
    const SCORE: &str = "-4503599627370495.5";

    fn here() -> Edge {
        Edge(SCORE.to_owned(), "m".to_owned())
    }

    fn token(list: &[&str], after: bool) -> String {
        let edge = Some(here());
        let (before, behind) = if after { (None, edge) } else { (edge, None) };
        let page =
            page(&PageReply::<()> { entries: vec![], order: None, before, after: behind }, list);
        page.next_pagination_token + &page.previous_pagination_token
    }

    #[test]
    fn a_token_comes_back_as_the_edge_it_was() {
        let list = ["leases", "ns", "a/1"];
        let behind = from(&token(&list, true), &list).unwrap();
        assert!(matches!(&behind, PageStart::After(edge) if *edge == here()), "{behind:?}");
        let before = from(&token(&list, false), &list).unwrap();
        assert!(matches!(&before, PageStart::Before(edge) if *edge == here()), "{before:?}");
    }

    #[test]
    fn a_token_of_another_list_is_refused() {
        let given = token(&["semaphores", "a"], true);
        assert!(from(&given, &["semaphores", "b"]).is_err());
        assert!(from(&given, &["leases", "a", ""]).is_err());
        assert!(from("%%%", &["semaphores", "a"]).is_err());
        assert!(from("e30", &["semaphores", "a"]).is_err());
    }

    #[test]
    fn a_score_that_is_no_number_is_refused() {
        for score in ["", "x", "nan", "inf", "-infinity", "1e999", "0x10"] {
            let edge = Edge(score.to_owned(), "m".to_owned());
            let token =
                encode(&Token { list: "l".to_owned(), order: String::new(), after: true, edge });
            assert!(from(&token, &["l"]).is_err(), "{score}");
        }
    }

    #[test]
    fn a_limit_is_at_most_250_and_100_where_it_is_left_out() {
        assert_eq!(limit(0).unwrap(), 100);
        assert_eq!(limit(250).unwrap(), 250);
        assert!(limit(251).is_err());
        assert!(limit(-1).is_err());
    }
}
