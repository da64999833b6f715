//! The ranges of values. Each text ends the sentence "it takes …".

/// The range of a number of retries.
pub const COUNT: &str = r#"a whole number from 0 to 4294967294, or "unlimited""#;
/// The range of a factor.
pub const FACTOR: &str = "a number from 1 up";
/// The range of a jitter ratio.
pub const RATIO: &str = "a ratio from 0 to 1";
/// The precision of a jitter ratio: policies store billionths.
pub const FINE_RATIO: &str = "a ratio of at most 9 decimals";
/// The range and the precision of a jitter ratio.
pub const FINE_RATIO_IN_RANGE: &str = "a ratio from 0 to 1, of at most 9 decimals";
/// The range of a number of equal errors.
pub const REPEATS: &str = "a whole number from 2 up";
/// The values of a Boolean key.
pub const BOOL: &str = "`true` or `false`";
/// The form of a duration.
pub const DURATION: &str = r#"a duration, as in "250ms", "1.5s" or "1h30m""#;
/// The range of a time limit.
pub const POSITIVE_DURATION: &str = "a duration above zero";

/// The number of units per 1 in which a policy stores a ratio.
const BILLION: f64 = 1e9;

/// Returns true if delays can grow by this factor.
pub const fn is_factor(number: f64) -> bool {
    number.is_finite() && number >= 1.0
}

/// The smallest number of equal errors that can end a call. A single error is not a repetition.
pub const LEAST_REPEATS: u32 = 2;

/// Returns true if this number of equal errors can end a call.
pub fn is_repeats(number: f64) -> bool {
    (f64::from(LEAST_REPEATS)..=f64::from(u32::MAX)).contains(&number) && number % 1.0 == 0.0
}

/// Checks that a policy can store the number as a ratio. The error is the expected range or precision.
pub const fn check_ratio(number: f64) -> Result<(), &'static str> {
    if !(number >= 0.0 && number <= 1.0) {
        return Err(RATIO);
    }
    // Apart from the sign of zero.
    if from_billionths(to_billionths(number)).to_bits() != number.abs().to_bits() {
        return Err(FINE_RATIO);
    }
    Ok(())
}

/// The ratio in billionths, rounded: 0 for a negative ratio and for NaN, 10⁹ for one above 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate, and make 0 of what is no number"
)]
pub const fn to_billionths(ratio: f64) -> u32 {
    let billionths = (ratio * BILLION + 0.5) as u32;
    if billionths > 1_000_000_000 {
        1_000_000_000
    } else {
        billionths
    }
}

/// The reverse of [`to_billionths`].
pub const fn from_billionths(billionths: u32) -> f64 {
    billionths as f64 / BILLION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_nine_decimals() {
        for ratio in [
            0.0,
            -0.0,
            1.0,
            0.1,
            0.2,
            0.3,
            0.25,
            0.123_456_789,
            0.999_999_999,
            1e-9,
        ] {
            assert_eq!(check_ratio(ratio), Ok(()), "{ratio}");
        }
        for number in [-0.1, 1.1, f64::NAN, f64::INFINITY, -1e-300] {
            assert_eq!(check_ratio(number), Err(RATIO), "{number}");
        }
        for number in [1.0 / 3.0, 1e-10, 0.1 + 0.2, f64::MIN_POSITIVE] {
            assert_eq!(check_ratio(number), Err(FINE_RATIO), "{number}");
        }
        for billionths in (0..=1_000_000_000).step_by(9_973) {
            assert_eq!(to_billionths(from_billionths(billionths)), billionths);
        }
        assert_eq!(to_billionths(f64::NAN), 0);
        assert_eq!(to_billionths(-3.0), 0);
        assert_eq!(to_billionths(f64::INFINITY), 1_000_000_000);
    }
}
