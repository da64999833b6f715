//! The ranges of values. Each text completes the sentence "it takes …".

/// The range of a number of retries.
pub const COUNT: &str = r#"a whole number from 0 to 4294967294, or "unlimited""#;
/// The range of a factor.
pub const FACTOR: &str = "a number from 1 up";
/// The range of a jitter ratio.
pub const RATIO: &str = "a ratio from 0 to 1";
/// The range of a number of equal errors.
pub const REPEATS: &str = "a whole number from 2 up";
/// The range of a share of failed attempts.
pub const SHARE: &str = "a number above 0, and at most 1";
/// The range of a number of concurrent attempts.
pub const ATTEMPTS: &str = "a whole number from 1 up";
/// The values of a Boolean key.
pub const BOOL: &str = "`true` or `false`";
/// The form of a duration.
pub const DURATION: &str = r#"a duration, as in "250ms", "1.5s" or "1h30m""#;
/// The range of a time limit.
pub const POSITIVE_DURATION: &str = "a duration above zero";

/// Returns true if delays can grow by this factor.
pub const fn is_factor(number: f64) -> bool {
    number.is_finite() && number >= 1.0
}

/// The smallest number of equal errors that can end a call. A single error is not a repetition.
pub const MIN_REPEATS: u32 = 2;

/// Returns true if this number of equal errors can end a call.
pub fn is_repeat_count(number: f64) -> bool {
    (f64::from(MIN_REPEATS)..=f64::from(u32::MAX)).contains(&number) && number % 1.0 == 0.0
}

/// The ratio of a jitter that only lengthens delays, from a text such as `+0.3`.
pub fn added_ratio(text: &str) -> Option<f64> {
    text.strip_prefix('+')?.parse().ok()
}

/// Returns true if the number can be a jitter ratio.
pub const fn is_ratio(number: f64) -> bool {
    number >= 0.0 && number <= 1.0
}
