use std::hash::{Hash, Hasher};

use grackle_client::wire::Drained;

use super::{MAX_PERMITS, Micros};

const WINDOW: Micros = 30_000_000;
const SECOND: Micros = 1_000_000;

/// What those who waited were granted, in the window that runs and in the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drain {
    pub(crate) weight: i64,
    /// None where nobody measured then.
    pub(crate) before: Option<i64>,
    pub(crate) since: Micros,
}

/// It decides nothing, so worlds that differ in it alone are one.
impl Hash for Drain {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Drain {
    pub(crate) fn from(since: Micros) -> Self {
        Self { weight: 0, before: None, since }
    }

    /// As it is by now.
    fn by(self, now: Micros) -> Self {
        match (now - self.since).div_euclid(WINDOW) {
            0 => self,
            back if back < 0 => Self::from(now),
            windows => {
                let before = Some(if windows == 1 { self.weight } else { 0 });
                Self { weight: 0, before, since: self.since + windows * WINDOW }
            }
        }
    }

    /// A waiter of that weight is granted.
    pub(crate) fn add(&mut self, weight: i64, now: Micros) {
        *self = self.by(now);
        self.weight = self.weight.saturating_add(weight).min(MAX_PERMITS);
    }

    /// A queue forms; it is measured from now on, unless there was another of late.
    pub(crate) fn begin(&mut self, now: Micros) {
        let by_now = self.by(now);
        if by_now.weight == 0 && by_now.before.unwrap_or_default() == 0 {
            *self = Self::from(now);
        }
    }

    pub(crate) fn shown(self, now: Micros) -> Option<Drained> {
        let Self { weight, before, since } = self.by(now);
        let whole = if before.is_some() { WINDOW } else { 0 };
        let seconds = (whole + now - since) / SECOND;
        let weight = (weight + before.unwrap_or_default()).min(MAX_PERMITS);
        (weight > 0 && seconds > 0).then_some(Drained { weight, seconds })
    }
}
