use alloc::string::String;
use core::time::Duration;

use retry_vocabulary::duration;

use crate::classify::verdict::LONGEST_HINT;

/// Words before a wait, in small letters.
const BEFORE: [&str; 11] = [
    // OpenAI, Groq, Google, Azure, Moonshot: "try again in", "retry in", "retry after", "try again after"
    "again",
    "retry",
    // GitHub Models
    "wait",
    // the header, quoted
    "retry-after",
    "retry_after",
    "retrying",
    "reset",
    "resets",
    "available in",
    "unavailable for",
    // Supabase
    "only request this",
];
/// What may stand between.
const BETWEEN: [&str; 17] = [
    "in ",
    "after ",
    "for ",
    "about ",
    "approximately ",
    "around ",
    "at least ",
    "another ",
    "later ",
    "your request ",
    "the request ",
    "this request ",
    "~",
    ":",
    "=",
    "\"",
    "'",
];
/// How many bytes at most stand between those words and a point in time.
#[cfg(all(feature = "http", feature = "llm"))]
const BETWEEN_TIME: usize = 16;
/// Numbers in words.
const ONE: [&str; 3] = ["a ", "an ", "one "];
/// Digits after the point that a nanosecond has room for.
const FRACTION: usize = 9;

/// The wait that a text asks for: "Please try again in 6m0s", "Please retry after 26 seconds", "resets in 1 hour and
/// 2 minutes". From zero to 365 days. Without a unit it is none, except after
/// "retry after", as in the header of that name: then it is in seconds. What is "ago" is none.
///
/// Of several waits, the first in the text counts: services ask for the next attempt first and explain their limits after it,
/// and gateways speak before they quote.
///
/// For clients that keep only a message. [`ProviderError`](crate::llm::ProviderError) and
/// [`throttled`](crate::on::Combine::throttled) read it by themselves.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::llm::wait_in;
///
/// let text = "429: Please try again in 1m26.4s. The quota resets in 5 hours.";
/// assert_eq!(wait_in(text), Some(Duration::from_millis(86_400)));
/// assert_eq!(wait_in("Please try again in a moment."), None);
/// ```
#[cfg_attr(
    not(feature = "llm"),
    allow(unreachable_pub, rustdoc::broken_intra_doc_links)
)]
pub fn wait_in(text: &str) -> Option<Duration> {
    let text = text.to_ascii_lowercase();
    after_words(&text).find_map(|rest| seconds(rest).or_else(|| duration(rest)))
}

/// The point in time that a text asks to wait for: "Retry after 2026-03-01T12:10:54Z", also with a space and "UTC" in it,
/// or as in HTTP.
#[cfg(all(feature = "http", feature = "llm"))]
pub(crate) fn time_in(text: &str) -> Option<std::time::SystemTime> {
    use crate::classify::retry_after::date;

    let small = text.to_ascii_lowercase();
    let mut times = after_words(&small).filter_map(|rest| {
        let rest = &text[text.len() - rest.len()..];
        let start = rest
            .bytes()
            .take(BETWEEN_TIME)
            .position(|byte| byte.is_ascii_digit())?;
        let is_of_time = |c: char| c.is_ascii_alphanumeric() || "-+:.".contains(c);
        let (time, _) = split(&rest[start..], is_of_time);
        let day = start.saturating_sub("Sun, ".len());
        date(&time.trim_end_matches('.').to_ascii_uppercase())
            .or_else(|| date(rest.get(start..start + "2026-03-01 12:10:54 UTC".len())?))
            .or_else(|| date(rest.get(day..start + "01 Mar 2026 12:10:54 GMT".len())?))
    });
    times.next()
}

/// What stands after each of the words before a wait.
fn after_words(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let starts = text.char_indices().filter(move |&(_, c)| {
        let is_inside = before.is_alphanumeric();
        before = c;
        c.is_ascii_lowercase() && !is_inside
    });
    starts.flat_map(move |(start, _)| {
        let rest = &text[start..];
        BEFORE.iter().filter_map(|word| rest.strip_prefix(word))
    })
}

/// The value of the header `retry-after`, quoted: seconds, without a unit.
fn seconds(rest: &str) -> Option<Duration> {
    let value = ["-after", "_after", " after"]
        .iter()
        .find_map(|word| rest.strip_prefix(word))?;
    let value = value.trim_start_matches([' ', ':', '=', '"']);
    let (number, rest) = split(value, |c| c.is_ascii_digit());
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric());
    let is_of_time = rest.strip_prefix(['-', ':', '.']).is_some_and(goes_on);
    let wait = Duration::from_secs(number.parse().ok()?);
    (!is_of_time && !goes_on(rest.trim_start()) && wait <= LONGEST_HINT).then_some(wait)
}

/// The duration that the text, in small letters, begins with.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    while let Some(after) = BETWEEN.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after.trim_start();
    }
    let mut wait = String::new();
    if let Some(after) = ONE.iter().find_map(|word| rest.strip_prefix(word)) {
        let (unit, after) = split(after, |c| c.is_ascii_alphabetic());
        wait.push('1');
        wait.push_str(short(unit)?);
        rest = after;
    }
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        // Azure quotes the number.
        let after = after.strip_prefix('\'').unwrap_or(after);
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic());
        let Some(unit) = short(unit) else { break };
        let point = number.find('.').unwrap_or(number.len());
        wait.push_str(&number[..number.len().min(point + 1 + FRACTION)]);
        wait.push_str(unit);
        rest = after.trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    if rest.trim_start().starts_with("ago") {
        return None;
    }
    let wait = duration::parse(&wait).ok()?;
    (wait <= LONGEST_HINT).then_some(wait)
}

fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// A unit as it is written in durations.
fn short(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "ms" | "milliseconds" | "millisecond" => "ms",
        "s" | "seconds" | "second" | "secs" | "sec" => "s",
        "m" | "minutes" | "minute" | "mins" | "min" => "m",
        "h" | "hours" | "hour" | "hrs" | "hr" => "h",
        "d" | "days" | "day" => "d",
        _ => return None,
    })
}
