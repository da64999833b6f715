use alloc::string::String;
use core::time::Duration;

use retry_vocabulary::duration;

use crate::classify::verdict::LONGEST_HINT;

/// What stands before a wait, in small letters.
const BEFORE: [&str; 9] = [
    // OpenAI, Groq, xAI: "Please try again in"
    "again in ",
    // Google
    "retry in ",
    // Azure
    "retry after ",
    // Moonshot: "please try again after"
    "again after ",
    // GitHub Models
    "wait ",
    "reset in ",
    "resets in ",
    "reset after ",
    "available in ",
];
/// What may stand between.
const BETWEEN: [&str; 6] = [
    "for ",
    "about ",
    "approximately ",
    "at least ",
    "another ",
    "~",
];
/// Digits after the point that a nanosecond has room for.
const FRACTION: usize = 9;

/// The wait that a text asks for: "Please try again in 6m0s", "Please retry after 26 seconds", "resets in 1 hour and
/// 2 minutes". The first one that can be read counts. From zero to 365 days; without a unit it is none.
///
/// For clients that keep only a message. [`ProviderError`](crate::llm::ProviderError) and
/// [`throttled`](crate::on::Combine::throttled) read it by themselves.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::llm::wait_in;
///
/// let text = "429: Rate limit reached. Please try again in 1m26.4s.";
/// assert_eq!(wait_in(text), Some(Duration::from_millis(86_400)));
/// assert_eq!(wait_in("Please try again in a moment."), None);
/// ```
#[cfg_attr(
    not(feature = "llm"),
    allow(unreachable_pub, rustdoc::broken_intra_doc_links)
)]
pub fn wait_in(text: &str) -> Option<Duration> {
    let text = text.to_ascii_lowercase();
    BEFORE.iter().find_map(|before| {
        let found = text.match_indices(before);
        let mut after = found.map(|(start, _)| &text[start + before.len()..]);
        after.find_map(duration)
    })
}

/// The duration that the text begins with.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    while let Some(after) = BETWEEN.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = after.trim_start();
    }
    let mut wait = String::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic());
        let Some(unit) = short(unit) else { break };
        let point = number.find('.').unwrap_or(number.len());
        wait.push_str(&number[..number.len().min(point + 1 + FRACTION)]);
        wait.push_str(unit);
        rest = after.trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
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
