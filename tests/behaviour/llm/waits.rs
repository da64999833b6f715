//! Sentences that ask to wait, and sentences with numbers that don't.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use retry_runtime::llm::wait_in;

#[test]
fn sentences_that_ask_to_wait() {
    let table = [
        // A number with a unit.
        ("Please try again in 1.5s", 1500),
        ("retry after 1h30m", 5_400_000),
        ("Try again in 1,234.5 ms", 1234),
        ("rate limited, retry after 1,000,000 ms", 1_000_000),
        ("retry after \"5\" minutes", 300_000),
        ("Please wait 30s. We do not retry after 404.", 30_000),
        ("Request not found in cache, try again in 2s", 2000),
        ("This could not be done. Retry in 3 seconds.", 3000),
        ("Only 5 requests are allowed: wait 7 secs", 7000),
        // "Don't retry for 30 seconds" asks to wait.
        ("Please do not retry for 30 seconds", 30_000),
        ("You can't try again for 10 minutes", 600_000),
        // The quoted header, and sentences with the same words.
        ("Too Many Requests: retry after 404", 404_000),
        ("429 Too Many Requests retry after 35", 35_000),
        ("Flood control exceeded. Retry after 35.", 35_000),
        ("Too many requests, please retry after 1,500", 1_500_000),
        ("Upgrade or retry after 35", 35_000),
        ("got Retry-After: 35\nContent-Length: 3", 35_000),
        ("{\"retry-after\": \"35\", \"limit\": 3}", 35_000),
        ("retry_after=35;limit=3", 35_000),
        ("Retry after 35 (see the docs)", 35_000),
        ("Retry after 35 - over quota", 35_000),
        ("<b>Retry after 35</b>", 35_000),
    ];
    for (text, millis) in table {
        let wait = wait_in(text).map(|wait| wait.as_millis());
        assert_eq!(wait, Some(millis), "{text}");
    }
}

#[test]
fn sentences_that_ask_for_no_wait() {
    let table = [
        // Negated.
        "We don\u{2019}t automatically retry after 30 seconds.",
        "There is no need to retry after 60 seconds",
        "do not wait for 5s",
        "The quota will not reset in 5 minutes",
        "Do not retry after 2026-01-01T00:00:00Z",
        // Statements about others, not requests.
        "We retry after 503.",
        "The gateway will retry after 429",
        // A part of something else.
        "retry after 2 / 5",
        "retry after 5-10 seconds",
        "Retry after 2026-01-01",
        "retry after 10.0.0.1",
        "retry after 1,5 seconds",
        "retry after 1,2,3 failures",
        "retry after 5k",
        "retry after 3rd failure",
        "retry after #5",
        "retry after $5",
        "Retry-After: 35%",
        // A count of something else.
        "retry after attempt 3",
        "retry after v2 ships",
        "retry after 1,500 tokens",
        "wait 3 times",
        "try again in 50% less time",
    ];
    for text in table {
        assert_eq!(wait_in(text), None, "{text}");
    }
}

/// Digits in groups of three.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (first, rest) = digits.split_at(first);
    let groups = rest
        .as_bytes()
        .chunks(3)
        .map(|group| str::from_utf8(group).unwrap());
    groups.fold(first.to_owned(), |text, group| format!("{text},{group}"))
}

proptest! {
    #[test]
    fn commas_in_numbers_are_ignored(
        number in 0..31_000_000_u32,
        ask in select(vec!["Please try again in", "retry after", "Retry-After:", "wait about"]),
        unit in select(vec![" seconds", "s", " secs.", "sec, please"]),
    ) {
        let expected = Some(Duration::from_secs(number.into()));
        for number in [number.to_string(), grouped(number)] {
            let text = format!("429: {ask} {number}{unit}");
            prop_assert_eq!(wait_in(&text), expected, "{}", text);
        }
    }

    #[test]
    fn negated_waits_are_ignored(
        number in 0..1000_u32,
        deny in select(vec!["do not", "don't", "never", "will not", "shouldn't", "cannot"]),
        word in select(vec!["", "try to", "immediately", "attempt to"]),
        ask in select(vec!["retry after", "retry in", "try again in", "try again after"]),
        unit in select(vec![" seconds", "s", "", "m"]),
    ) {
        let text = format!("Clients {deny} {word} {ask} {number}{unit}");
        prop_assert_eq!(wait_in(&text), None, "{}", text);
    }

    #[test]
    fn counts_and_fractions_are_not_waits(
        number in 0..100_000_u32,
        ask in select(vec!["Please retry after", "try again in", "retry-after:", "wait for", "resets in"]),
        what in select(vec!["%", " %", "/5", " of 5", " attempts", " requests", "k tokens", "x", "-10", "rd try", ":30"]),
    ) {
        for number in [number.to_string(), grouped(number)] {
            let text = format!("429: {ask} {number}{what}");
            prop_assert_eq!(wait_in(&text), None, "{}", text);
        }
    }
}
