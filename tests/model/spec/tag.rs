use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A place that may be a fraction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tag(pub(crate) f64);

impl Tag {
    /// Where what starts here finishes.
    pub(crate) fn plus(self, weight: i64, share: i64) -> Self {
        Self(self.0 + weight as f64 / share as f64)
    }

    pub(crate) fn a_hair_before(self) -> Self {
        Self(self.0 * (1.0 - f64::EPSILON * 4.0))
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Tag {}

impl Hash for Tag {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.to_bits().hash(hasher);
    }
}
