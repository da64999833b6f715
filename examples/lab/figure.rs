//! Numbers that a scenario ends in, and what they must be.

use std::fmt;
use std::ops::{Bound, RangeBounds};

/// One number, with the bounds that it must stay within.
pub(crate) struct Figure {
    pub(crate) name: String,
    value: f64,
    unit: &'static str,
    /// Both are within.
    least: Option<f64>,
    most: Option<f64>,
}

impl Figure {
    pub(crate) fn new(
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        bounds: impl RangeBounds<f64>,
    ) -> Self {
        let end = |bound: Bound<&f64>| match bound {
            Bound::Included(end) | Bound::Excluded(end) => Some(*end),
            Bound::Unbounded => None,
        };
        Self {
            name: name.into(),
            value,
            unit,
            least: end(bounds.start_bound()),
            most: end(bounds.end_bound()),
        }
    }

    /// Whether it is what it must be. What is not a number never is.
    pub(crate) fn holds(&self) -> bool {
        let least = self.least.is_none_or(|least| self.value >= least);
        let most = self.most.is_none_or(|most| self.value <= most);
        least && most && !self.value.is_nan()
    }

    pub(crate) fn value(&self) -> String {
        format!("{}{}", Shown(self.value), self.unit)
    }

    pub(crate) fn bounds(&self) -> String {
        match (self.least.map(Shown), self.most.map(Shown)) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => String::from("–"),
        }
    }
}

/// Rounded to about four digits, and grouped by thousands.
pub(crate) struct Shown(pub(crate) f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let decimals = match size {
            ..10.0 => 3,
            ..1_000.0 => 1,
            _ => 0,
        };
        let digits = format!("{:.decimals$}", self.0);
        let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
        for (place, digit) in whole.char_indices() {
            let left = whole.len() - place;
            if place > 0 && left % 3 == 0 {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        // No decimal that says nothing.
        f.write_str(rest.trim_end_matches('0').trim_end_matches('.'))
    }
}
