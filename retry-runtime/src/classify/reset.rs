//! When a limit is reset, from the headers that tell what is left of it.

use core::time::Duration;
use std::time::SystemTime;

use http::HeaderMap;
use retry_vocabulary::duration;

use crate::classify::retry_after::{first, server_time};
use crate::classify::verdict::LONGEST_HINT;

/// How an API writes when the limit is reset.
#[derive(Clone, Copy)]
enum Written {
    /// `6m0s`
    Duration,
    /// `30`
    Seconds,
    /// `2026-03-01T12:00:30Z`
    Time,
}

/// What is left, and when it is reset.
const LIMITS: [(&str, &str, Written); 7] = [
    (
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
        Written::Duration,
    ),
    (
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
        Written::Duration,
    ),
    (
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
        Written::Time,
    ),
    (
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
        Written::Time,
    ),
    (
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
        Written::Time,
    ),
    (
        "anthropic-ratelimit-output-tokens-remaining",
        "anthropic-ratelimit-output-tokens-reset",
        Written::Time,
    ),
    ("ratelimit-remaining", "ratelimit-reset", Written::Seconds),
];

/// The waits until the limits that are used up are reset. A limit with something left did not refuse the request, or
/// nobody knows how much it asked for.
pub(crate) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = server_time(headers);
    let waits = LIMITS.iter().filter_map(|(remaining, reset, written)| {
        let is_used_up = headers
            .get(*remaining)
            .is_some_and(|left| left.as_bytes().trim_ascii() == b"0");
        if !is_used_up {
            return None;
        }
        first(headers, reset, |value| written.wait(value, now))
    });
    waits.max()
}

impl Written {
    fn wait(self, value: &str, now: SystemTime) -> Option<Duration> {
        match self {
            Self::Duration => duration::parse(value).ok(),
            Self::Seconds => value.parse().ok().map(Duration::from_secs),
            Self::Time => {
                let time = humantime::parse_rfc3339(value).ok()?;
                // It was reset before the answer arrived.
                Some(time.duration_since(now).unwrap_or_default())
            }
        }
        .filter(|wait| *wait <= LONGEST_HINT)
    }
}
