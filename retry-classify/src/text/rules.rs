//! Matches services' error texts with the table of rules, to recognize faults in bodies, stream events and gRPC
//! statuses.

use alloc::string::String;
use core::time::Duration;

use super::fault::Fault;
use super::table::RuleFor::{Limit, Misnomer, Number, Period, Rolling, Text, Whole};
use super::table::{RULES, Rule, RuleFor};
use super::wait::wait_in;

/// The maximum number of characters that are read. The fault is at the start, and quoted prompts can have any length.
const MAX_READ: usize = 16 * 1024;
/// A daily limit that resets sooner than this counts as throttling.
const SOON: Duration = Duration::from_secs(60 * 60);

/// Words for a thing that is limited per period, in names such as `daily_quota`.
const LIMITED: [&str; 8] = [
    "cap", "credits", "limit", "quota", "rate", "requests", "tokens", "usage",
];

/// The fault of the first name that has a rule of this kind. A billing name wins in any position.
pub(crate) fn lookup<'a>(kind: RuleFor, names: impl IntoIterator<Item = &'a str>) -> Option<Fault> {
    let mut found = names.into_iter().filter_map(|name| {
        let name = words(name);
        let rule = find(|(of, ..), phrase| *of == kind && is_named(&name, phrase))?;
        Some(rule.2)
    });
    let first = found.next();
    found.find(|fault| *fault == Fault::Billing).or(first)
}

/// The fault for a service's own error number.
pub(crate) fn lookup_number(code: &str, status: Option<u16>) -> Option<Fault> {
    let is_of = |what| matches!(what, Number(of) if status.is_none_or(|status| status == of));
    find(|(what, ..), number| number == code && is_of(*what)).map(|rule| rule.2)
}

/// Returns the fault from a text, or else `fault`, which comes from the names and the status. `is_open` is true if the
/// status doesn't rule out throttling and overload.
pub(crate) fn refine(fault: Fault, is_open: bool, text: &str) -> Fault {
    use Fault::{Billing, Internal, Invalid, Overloaded, Throttled, Unknown};

    let may_be = |what, means| match (what, means) {
        (Misnomer, _) => fault == Billing,
        (Limit | Period | Rolling, _) => fault == Throttled,
        (Text, Throttled | Overloaded) => is_open && fault == Unknown,
        (Text, Internal) | (Whole, _) => fault == Unknown,
        (Text, _) => matches!(fault, Throttled | Internal | Invalid | Unknown),
        // Names were already matched.
        _ => false,
    };
    let all = words(text);
    let alone = words(&standalone_words(text));
    let found = find(|&(what, _, means, _), phrase| {
        may_be(what, means)
            && match what {
                Period => mentions(&alone, phrase) || is_limit_per(&all, phrase),
                Whole => is_named(&all, phrase),
                _ => mentions(&all, phrase),
            }
    });
    match found {
        Some((Rolling, ..)) if wait_in(text).is_some_and(|wait| wait < SOON) => Throttled,
        Some(rule) => rule.2,
        None => fault,
    }
}

fn is_named(words: &str, of: &str) -> bool {
    let name = words.trim();
    match (of.strip_prefix('*'), of.strip_suffix('*')) {
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (Some(_), Some(_)) => name.contains(of.trim_matches('*')),
        (None, None) => name == of,
    }
}

/// The first rule with a phrase that matches.
fn find(is_match: impl Fn(&Rule, &str) -> bool) -> Option<&'static Rule> {
    let mut rules = RULES.iter();
    rules.find(|rule| rule.1.split('|').any(|phrase| is_match(rule, phrase)))
}

/// The words of a text in lower case, each between single spaces, so that `RequestsPerDay`, `requests_per_day` and
/// "Requests per day" are equal. A number keeps its decimal point.
fn words(text: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    let mut chars = text.chars().take(MAX_READ).peekable();
    while let Some(c) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(char::is_ascii_digit);
        let is_point = c == '.' && before.is_ascii_digit() && next_is_digit;
        let is_inside = is_point || c.is_alphanumeric();
        let is_new = before.is_lowercase() && c.is_uppercase();
        if (!is_inside || is_new) && !words.ends_with(' ') {
            words.push(' ');
        }
        if is_inside {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    words.push(' ');
    words
}

fn mentions(text: &str, phrase: &str) -> bool {
    texts_after(text, phrase).next().is_some()
}

/// The text after each occurrence of the phrase.
fn texts_after<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(phrase).filter_map(|(start, phrase)| {
        let rest = &text[start + phrase.len()..];
        (text[..start].ends_with(' ') && rest.starts_with(' ')).then_some(rest)
    })
}

/// Returns true if the text contains the period, followed by a word of `LIMITED`.
fn is_limit_per(text: &str, period: &str) -> bool {
    let mut next = texts_after(text, period).filter_map(|rest| rest.split_whitespace().next());
    next.any(|next| LIMITED.contains(&next))
}

/// The words of a text, without names that consist of several words, such as file, host and table names.
fn standalone_words(text: &str) -> String {
    let is_alone = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.chars().all(char::is_alphanumeric)
    };
    let words = text.split_whitespace().filter(is_alone);
    words.flat_map(|word| [word, " "]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_in_normal_form() {
        for (_, phrases, _, source) in RULES {
            for phrase in phrases.split('|') {
                let plain = phrase.trim_matches(['*', ' ']);
                assert_eq!(words(plain).trim(), plain, "{source}");
            }
        }
    }

    #[test]
    fn a_daily_limit_is_recognized_in_every_spelling() {
        for (text, expected) in [
            (
                "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                Fault::Billing,
            ),
            ("requests_per_day", Fault::Billing),
            ("Requests per day", Fault::Billing),
            ("Daily Limit for model queries exceeded", Fault::Billing),
            ("requests per day: try again in 7m12s", Fault::Throttled),
            ("requests per day: try again in 7h12m", Fault::Billing),
            ("limit: 0, model", Fault::Billing),
            ("limit: 0.5", Fault::Throttled),
            ("limit: 05", Fault::Throttled),
            (
                "GenerateRequestsPerMinutePerProjectPerModel",
                Fault::Throttled,
            ),
            ("", Fault::Throttled),
        ] {
            assert_eq!(refine(Fault::Throttled, false, text), expected, "{text}");
        }
    }
}
