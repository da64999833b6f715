use alloc::string::String;
use core::time::Duration;

use retry_vocabulary::duration;

use crate::verdict::LONGEST_HINT;

// Lists of lower-case words, separated by bars.

/// Words that introduce a wait, as in "try again in" and "retry after". GitHub Models writes "wait", Supabase "only
/// request this". `retry-after` is the header's name, as texts quote it.
const KEYWORDS: &str = "again|retry|retrying|retry-after|retry_after|wait|reset|resets|available in|unavailable for|\
    only request this";
/// Words that may come between a keyword and the wait.
const FILLERS: &str = "in |after |for |about |approximately |around |at least |another |later |your request |\
    the request |this request |~|:|=|\"|'";
/// The maximum number of bytes between a keyword and a point in time.
#[cfg(all(feature = "http", feature = "llm"))]
const MAX_FILLER: usize = 16;
/// Words for the number one.
const ONE: &str = "a |an |one ";
/// The number of decimal places in a number of seconds with nanosecond precision.
const MAX_DECIMALS: usize = 9;
/// Negations. The second list has words that may come between a negation and the negated word.
const NEGATIONS: &str = "not|never|no|cannot";
const MAY_FOLLOW_NOT: &str = "try|to|attempt|need";
/// Words that precede a "retry" addressed to the caller, unlike the one in "We retry after 503".
const ADDRESSING: &str = "please|requests|and|then|or|can|may";
/// The maximum number of characters that are read before a keyword.
const MAX_READ_BACK: usize = 40;

/// Reads the wait that a text asks for: "Please try again in 6m0s", "Please retry after 26 seconds", "resets in 1 hour
/// and 2 minutes". The wait is from zero to 365 days. Digits may be grouped by commas.
///
/// A number without a unit is read as seconds, but only after "retry after" or in a quoted header of that name, and
/// only if it ends its phrase. All other numbers need a unit. Negations ("do not retry after 30 seconds"), counts
/// ("retry after 5 attempts"), percentages and times in the past ("5 minutes ago") are ignored.
///
/// If a text contains several waits, the first one is returned: services first name the wait for the next attempt and
/// then explain their limits, and gateways put their own text before a quote.
///
/// Use it with clients whose errors contain only a message. [`ProviderError`](crate::llm::ProviderError) and
/// [`throttled`](crate::on::Combine::throttled) read the wait for you.
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
    let mut words = keywords_in(&text);
    words.find_map(|(before, rest)| seconds(before, rest).or_else(|| duration(rest)))
}

/// The wait until the point in time in a text such as "Retry after 2026-03-01T12:10:54Z". The date may also have a
/// space and "UTC", or HTTP's format.
#[cfg(all(feature = "http", feature = "llm"))]
pub(crate) fn wait_until_in(text: &str, now: std::time::SystemTime) -> Option<Duration> {
    use super::date::date;

    let small = text.to_ascii_lowercase();
    let mut times = keywords_in(&small).filter_map(|(_, rest)| {
        let rest = &text[text.len() - rest.len()..];
        let mut near = rest.bytes().take(MAX_FILLER);
        let start = near.position(|byte| byte.is_ascii_digit())?;
        let is_of_time = |c: char| c.is_ascii_alphanumeric() || "-+:.".contains(c);
        let (time, _) = split(&rest[start..], is_of_time);
        let day = start.saturating_sub("Sun, ".len());
        date(&time.trim_end_matches('.').to_ascii_uppercase())
            .or_else(|| date(rest.get(start..start + "2026-03-01 12:10:54 UTC".len())?))
            .or_else(|| date(rest.get(day..start + "01 Mar 2026 12:10:54 GMT".len())?))
    });
    times.next()?.duration_since(now).ok()
}

/// For each keyword that may introduce a wait, the text just before it and the text after it. Skips negated keywords.
fn keywords_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut before = ' ';
    let starts = text.char_indices().filter(move |&(_, c)| {
        let is_inside = before.is_alphanumeric();
        before = c;
        c.is_ascii_lowercase() && !is_inside
    });
    starts.flat_map(move |(start, _)| {
        let (before, at) = text.split_at(start);
        KEYWORDS.split('|').filter_map(move |word| {
            let rest = at.strip_prefix(word)?;
            let read = before.char_indices().rev().take(MAX_READ_BACK).last();
            let before = &before[read.map_or(0, |(start, _)| start)..];
            // "Don't retry for 5 seconds" asks to wait.
            let asks_to_wait = word != "wait" && rest.trim_start().starts_with("for ");
            (asks_to_wait || !is_negated(before)).then_some((before, rest))
        })
    })
}

/// Returns true if the word after this text is negated, as after "please do not immediately".
fn is_negated(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let word = words.find(|word| !is_one_of(MAY_FOLLOW_NOT, word) && !word.ends_with("ly"));
    word.is_some_and(|word| {
        is_one_of(NEGATIONS, word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
    })
}

/// Returns true if a "retry" after this text is addressed to the caller: at the start of a clause, or after a word such
/// as "please".
fn is_request(before: &str) -> bool {
    let mut words = before.trim_end().rsplit(|c: char| !c.is_alphanumeric());
    words
        .next()
        .is_none_or(|word| word.is_empty() || is_one_of(ADDRESSING, word))
}

/// A number of seconds without a unit: the value of a quoted header `retry-after`, or the number after "retry after".
fn seconds(before: &str, rest: &str) -> Option<Duration> {
    let asked = || rest.strip_prefix(" after").filter(|_| is_request(before));
    let value = strip_word("-after|_after", rest).or_else(asked)?;
    let (number, rest) = number(value.trim_start_matches([' ', ':', '=', '"']));
    let wait = Duration::from_secs(number.parse().ok()?);
    (ends_phrase(rest) && wait <= LONGEST_HINT).then_some(wait)
}

/// Returns true if a number before this text ends its phrase, and so is not a count or part of a date, a range or a
/// fraction.
fn ends_phrase(rest: &str) -> bool {
    let rest = rest.strip_prefix('"').unwrap_or(rest);
    let mut chars = rest.trim_start_matches(' ').chars();
    match (chars.next(), chars.next()) {
        (None, _) => true,
        (Some('.' | ':' | '-'), next) => !next.is_some_and(char::is_alphanumeric),
        (Some(','), next) => !next.is_some_and(|c| c.is_ascii_digit()),
        (Some(c), _) => c.is_whitespace() || ";!?)]}(\"'`<|\\&\u{2013}\u{2014}".contains(c),
    }
}

/// The duration at the start of a lower-case text.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    while let Some(after) = strip_word(FILLERS, rest) {
        rest = after.trim_start();
    }
    let mut wait = String::new();
    let mut next = strip_word(ONE, rest).map_or_else(|| number(rest), |rest| ("1".into(), rest));
    while !next.0.is_empty() {
        // Azure puts the number in quotes.
        let after = strip_word("'|\"", next.1).unwrap_or(next.1);
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic());
        let Some(unit) = short_unit(unit) else { break };
        wait.push_str(&next.0);
        wait.push_str(unit);
        rest = after.trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        next = number(rest);
    }
    if rest.trim_start().starts_with("ago") {
        return None;
    }
    let wait = duration::parse(&wait).ok()?;
    (wait <= LONGEST_HINT).then_some(wait)
}

/// The number at the start of the text, without commas between groups of digits and truncated to whole nanoseconds, and
/// the rest of the text.
fn number(text: &str) -> (String, &str) {
    let (first, mut rest) = digits(text);
    let mut number = String::from(first);
    let is_group = |part: &(&str, _)| part.0.len() == 3 && (1..=3).contains(&first.len());
    while let Some((group, after)) = rest.strip_prefix(',').map(digits).filter(is_group) {
        number.push_str(group);
        rest = after;
    }
    let fraction = rest.strip_prefix('.').map(digits);
    if let Some((fraction, after)) = fraction.filter(|(fraction, _)| !fraction.is_empty()) {
        number.push('.');
        number.push_str(&fraction[..fraction.len().min(MAX_DECIMALS)]);
        rest = after;
    }
    (number, rest)
}

fn digits(text: &str) -> (&str, &str) {
    split(text, |c| c.is_ascii_digit())
}

fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split('|').any(|one| one == word)
}

/// Returns the rest of a text that starts with a word of the list.
fn strip_word<'a>(list: &str, text: &'a str) -> Option<&'a str> {
    list.split('|').find_map(|word| text.strip_prefix(word))
}

/// The short form of a unit, as used in durations.
fn short_unit(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "ms" | "milliseconds" | "millisecond" => "ms",
        "s" | "seconds" | "second" | "secs" | "sec" => "s",
        "m" | "minutes" | "minute" | "mins" | "min" => "m",
        "h" | "hours" | "hour" | "hrs" | "hr" => "h",
        "d" | "days" | "day" => "d",
        _ => return None,
    })
}
