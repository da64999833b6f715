//! Durations as text: `250ms`, `1.5s`, `1h30m`.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

/// The longest duration that a policy can store: 64 bits of nanoseconds, except for the value that means "not set".
pub const LONGEST: Duration = Duration::from_nanos(u64::MAX - 1);

/// The units with their nanoseconds, the longest first.
const UNITS: &[(&str, u64)] = &[
    ("w", 7 * DAY),
    ("d", DAY),
    ("h", 3_600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// The reason that a text is not a duration.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text has a sign.
    Negative,
    /// The text does not consist of numbers with units.
    NotADuration,
    /// The text is a number without a unit.
    NoUnit,
    /// The text has this unknown unit.
    UnknownUnit(String),
    /// The text has a fraction of a nanosecond.
    TooFine,
    /// The duration is longer than [`LONGEST`].
    TooLong,
}

/// Parses numbers with units, with optional white space between them. A policy can store the result exactly.
/// [`messages::invalid_duration`](crate::messages::invalid_duration) formats the error.
pub fn parse(text: &str) -> Result<Duration, Fault> {
    let text = text.trim();
    if text.strip_prefix('-').is_some_and(starts_with_digit) {
        return Err(Fault::Negative);
    }
    let (mut rest, mut total) = (text, 0_u64);
    while !rest.is_empty() || text.is_empty() {
        if !starts_with_digit(rest) {
            return Err(Fault::NotADuration);
        }
        let (number, after) = split(rest, is_number_char);
        let (unit, after) = split(after.trim_start(), char::is_alphabetic);
        if number == text {
            return Err(Fault::NoUnit);
        }
        // `Debug` writes microseconds with one of two characters that look alike.
        let plain = unit.replace(['µ', 'μ'], "u");
        let nanos = match UNITS.iter().find(|known| known.0 == plain) {
            Some(known) => nanos(number, known.1)?,
            None if unit.is_empty() => return Err(Fault::NotADuration),
            None => return Err(Fault::UnknownUnit(String::from(unit))),
        };
        total = total.checked_add(nanos).ok_or(Fault::TooLong)?;
        rest = after.trim_start();
    }
    let duration = Duration::from_nanos(total);
    if duration > LONGEST {
        return Err(Fault::TooLong);
    }
    Ok(duration)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn is_number_char(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// Splits a text after its leading characters for which `belongs` is true.
fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// Converts a number of units, possibly with a fraction, to nanoseconds. `unit` is the unit in nanoseconds.
fn nanos(number: &str, unit: u64) -> Result<u64, Fault> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.is_empty() || fraction.contains('.') {
        return Err(Fault::NotADuration);
    }
    let whole = whole
        .parse()
        .ok()
        .and_then(|whole: u64| whole.checked_mul(unit));
    let mut total = whole.ok_or(Fault::TooLong)?;
    let mut unit = unit;
    for digit in fraction.trim_end_matches('0').bytes() {
        let (tenth, left) = (unit / 10, unit % 10);
        if left != 0 {
            return Err(Fault::TooFine);
        }
        unit = tenth;
        let part = unit * u64::from(digit - b'0');
        total = total.checked_add(part).ok_or(Fault::TooLong)?;
    }
    Ok(total)
}

/// Displays a duration in the form that [`parse`] reads: `1h30m`.
#[derive(Clone, Copy, Debug)]
pub struct DurationText(pub Duration);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_zero() {
            return f.write_str("0s");
        }
        let mut rest = self.0.as_nanos();
        // Skip weeks, because ten days are more readable than one week and three days.
        for (unit, nanos) in &UNITS[1..] {
            let count = rest / u128::from(*nanos);
            rest %= u128::from(*nanos);
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages;

    fn read(text: &str) -> Result<Duration, String> {
        parse(text).map_err(|fault| messages::invalid_duration(&"cap", text, text, fault))
    }

    fn message(text: &str) -> String {
        match read(text) {
            Ok(duration) => panic!("{text:?} was read as {duration:?}"),
            Err(message) => message,
        }
    }

    #[test]
    fn every_unit_is_read() {
        for (text, nanos) in [
            ("0s", 0),
            ("1ns", 1),
            ("5us", 5_000),
            ("5µs", 5_000),
            ("5μs", 5_000),
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("0.000000001s", 1),
            ("2m", 120 * SECOND),
            ("0.125h", 450 * SECOND),
            ("1d", DAY),
            ("2w", 14 * DAY),
            ("1h30m", 5_400 * SECOND),
            (" 1 h 30 m ", 5_400 * SECOND),
            ("1.500000000000000000000s", 1_500_000_000),
            ("18446744073709551614ns", u64::MAX - 1),
        ] {
            assert_eq!(read(text), Ok(Duration::from_nanos(nanos)), "{text:?}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, expected) in [
            (
                "5",
                r#"`cap = 5` has no unit: write `"5s"` for seconds, or `ms`, `m`, `h`"#,
            ),
            (
                "0",
                r#"`cap = 0` has no unit: write `"0s"` for seconds, or `ms`, `m`, `h`"#,
            ),
            (
                "1M",
                r#"`cap = 1M` has the unknown unit `M`: write a duration, as in "250ms", "1.5s" or "1h30m" (units: ns, us, ms, s, m, h, d, w)"#,
            ),
            (
                "1.5 min",
                r#"`cap = 1.5 min` has the unknown unit `min`: write `"1.5 m"`"#,
            ),
            (
                "-5s",
                "`cap = -5s` is out of range: it takes a duration from zero up",
            ),
            (
                "1.5ns",
                "`cap = 1.5ns` is out of range: it takes whole nanoseconds",
            ),
            (
                "18446744073709551615ns",
                "`cap = 18446744073709551615ns` is out of range: it takes at most 213503d, which is 584 years",
            ),
        ] {
            assert_eq!(message(text), expected);
        }
        for text in [
            "", " ", "soon", "s", "1s2", "1 2s", "1..5s", "1.s", ".5s", "+1s", "1s,2s", "é", "-",
        ] {
            let expected = format!(
                r#"`cap` can't be `{text}`: it takes a duration, as in "250ms", "1.5s" or "1h30m""#
            );
            assert_eq!(message(text), expected);
        }
        for text in [
            "18446744073709551615s1000000000ns",
            "18446744073709551614ns1ns",
            "99999999999999999999s",
            "9223372036854775807w",
            "213503.99999d",
        ] {
            assert!(message(text).contains("at most 213503d"), "{text}");
        }
    }

    #[test]
    fn printed_durations_are_read_back() {
        for (duration, text) in [
            (Duration::ZERO, "0s"),
            (Duration::from_secs(90 * 60), "1h30m"),
            (Duration::from_secs(25 * 60 * 60), "1d1h"),
            (Duration::from_nanos(2_005_003), "2ms5us3ns"),
            (LONGEST, "213503d23h34m33s709ms551us614ns"),
        ] {
            assert_eq!(DurationText(duration).to_string(), text);
            assert_eq!(read(text), Ok(duration));
        }
        assert!(message(&DurationText(Duration::MAX).to_string()).contains("at most 213503d"));
    }
}
