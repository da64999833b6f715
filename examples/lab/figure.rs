//! The results of a scenario as numbers, with their bounds.

use std::fmt;
use std::ops::RangeInclusive;

/// A number with its bounds.
pub(crate) struct Figure {
    /// The row of the table: the case that was simulated.
    pub(crate) case: String,
    /// The column of the table: the measured quantity.
    pub(crate) quantity: &'static str,
    value: f64,
    unit: &'static str,
    bounds: RangeInclusive<f64>,
}

impl Figure {
    pub(crate) fn new(
        case: impl Into<String>,
        quantity: &'static str,
        value: f64,
        unit: &'static str,
        bounds: RangeInclusive<f64>,
    ) -> Self {
        Self {
            case: case.into(),
            quantity,
            value,
            unit,
            bounds,
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("{}: {}", self.case, self.quantity)
    }

    pub(crate) fn is_within_bounds(&self) -> bool {
        self.bounds.contains(&self.value)
    }

    pub(crate) fn value(&self) -> String {
        format!("{}{}", Rounded(self.value), self.unit)
    }

    pub(crate) fn bounds(&self) -> String {
        let (least, most) = (self.bounds.start(), self.bounds.end());
        match (*least > 0.0, most.is_finite()) {
            (true, true) => format!("{} to {}", Rounded(*least), Rounded(*most)),
            (true, false) => format!("at least {}", Rounded(*least)),
            (false, true) => format!("at most {}", Rounded(*most)),
            (false, false) => String::new(),
        }
    }
}

/// Displays a number rounded to about four digits, with thousands separators.
pub(crate) struct Rounded(pub(crate) f64);

impl fmt::Display for Rounded {
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
        // Remove trailing zeros.
        f.write_str(rest.trim_end_matches('0').trim_end_matches('.'))
    }
}
