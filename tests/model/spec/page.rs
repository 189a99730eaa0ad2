use super::Tag;

/// Where a page begins: at an entry's score and name, which need not be there any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    Start,
    After(Tag, String),
    Before(Tag, String),
}

/// Entries in the order of their scores, then of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page<T> {
    pub(crate) entries: Vec<T>,
    /// The first entry, where there are others before it.
    pub(crate) before: Option<(Tag, String)>,
    /// The last, where there are others behind it.
    pub(crate) after: Option<(Tag, String)>,
}

impl<T> Page<T> {
    pub(crate) fn of(mut all: Vec<(Tag, String, T)>, from: &From, limit: usize) -> Self {
        all.sort_by(|(score, name, _), (other_score, other, _)| {
            (score, name.as_bytes()).cmp(&(other_score, other.as_bytes()))
        });
        let stands = |edge: (Tag, &String), orders: &[std::cmp::Ordering]| {
            let count = all.iter().filter(|(score, name, _)| {
                orders.contains(&(*score, name.as_bytes()).cmp(&(edge.0, edge.1.as_bytes())))
            });
            count.count()
        };
        use std::cmp::Ordering::{Equal, Less};
        let (first, end) = match from {
            From::Start => (0, limit),
            From::After(score, name) => {
                let first = stands((*score, name), &[Less, Equal]);
                (first, first + limit)
            }
            From::Before(score, name) => {
                let end = stands((*score, name), &[Less]);
                (end.saturating_sub(limit), end)
            }
        };
        let count = all.len();
        let end = end.min(count);
        let edge = |at: usize| (all[at].0, all[at].1.clone());
        let before = (first > 0 && first < end).then(|| edge(first));
        let after = (end < count && first < end).then(|| edge(end - 1));
        let entries = all.drain(first.min(end)..end).map(|(_, _, entry)| entry).collect();
        Self { entries, before, after }
    }
}
