//! Numbers that a scenario ends in, and what they must be.

use std::fmt;
use std::ops::RangeInclusive;

/// One number, with the bounds that it must stay within.
pub(crate) struct Figure {
    /// What differs from figure to figure of the same sort: the row of a table.
    pub(crate) case: String,
    /// The sort: the column.
    pub(crate) what: &'static str,
    value: f64,
    unit: &'static str,
    bounds: RangeInclusive<f64>,
}

impl Figure {
    pub(crate) fn new(
        case: impl Into<String>,
        what: &'static str,
        value: f64,
        unit: &'static str,
        bounds: RangeInclusive<f64>,
    ) -> Self {
        Self {
            case: case.into(),
            what,
            value,
            unit,
            bounds,
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("{}: {}", self.case, self.what)
    }

    pub(crate) fn holds(&self) -> bool {
        self.bounds.contains(&self.value)
    }

    pub(crate) fn value(&self) -> String {
        format!("{}{}", Shown(self.value), self.unit)
    }

    pub(crate) fn bounds(&self) -> String {
        let (least, most) = (self.bounds.start(), self.bounds.end());
        match (*least > 0.0, most.is_finite()) {
            (true, true) => format!("{} to {}", Shown(*least), Shown(*most)),
            (true, false) => format!("at least {}", Shown(*least)),
            (false, true) => format!("at most {}", Shown(*most)),
            (false, false) => String::new(),
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
