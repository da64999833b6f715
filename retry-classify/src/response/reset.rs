//! The time until a rate limit is reset, from the headers that report its remaining requests.

use core::time::Duration;

use http::HeaderMap;

use crate::response::retry_after::{first_value, server_time, wait_time};

const REMAINING: &str = "remaining";
/// The part of a header name that means "remaining", and its replacement in the name of the reset header. The first row
/// fits most services; the others are for Azure Resource Graph, Yelp, Contentful and EVE Online.
const RESETS: [(&str, &str); 5] = [
    (REMAINING, "reset"),
    (REMAINING, "resets-after"),
    (REMAINING, "resettime"),
    ("second-remaining", "reset"),
    ("remain", "reset"),
];
/// A header that may list several limits.
const LIMITS: &str = "ratelimit";
/// Headers for a subscription's limits. They don't name the limit that was exceeded, only its reset time.
const UNIFIED_STATUS: &str = "anthropic-ratelimit-unified-status";
const UNIFIED_RESET: &str = "anthropic-ratelimit-unified-reset";

/// The longest wait until an exhausted limit is reset. A limit that is not exhausted is skipped: either the request
/// exceeded another limit, or its cost is unknown.
pub(crate) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = server_time(headers);
    // Zero if the limit was reset before the response arrived.
    let wait = |value: &str| wait_time(value, now).map(Result::unwrap_or_default);
    let left = headers.iter().flat_map(|(name, left)| {
        let (name, left) = (name.as_str(), left.to_str().unwrap_or_default());
        let is_of_limit = name.contains("limit") || name.contains("quota");
        let resets = RESETS.into_iter().filter(move |_| is_of_limit);
        let resets = resets.filter(move |(remaining, _)| name.contains(remaining));
        resets.map(move |(remaining, reset)| (left, name.replace(remaining, reset)))
    });
    let status = headers.get(UNIFIED_STATUS);
    let is_allowed = status.is_some_and(|status| status.as_bytes().starts_with(b"allowed"));
    let unified = (!is_allowed).then(|| ("0", UNIFIED_RESET.into()));
    let waits = left.chain(unified).filter_map(|(left, name)| {
        first_value(headers, &name, |resets| max_wait(left, resets, wait))
    });
    let together = first_value(headers, LIMITS, |value| limits(value, wait).max());
    waits.chain(together).max()
}

/// The longest wait for an exhausted limit, if the headers list several limits, as Brave's do.
fn max_wait(left: &str, resets: &str, wait: impl Fn(&str) -> Option<Duration>) -> Option<Duration> {
    // Split into at most one part per limit, because a date also contains a comma.
    let resets = resets.splitn(left.split(',').count(), ',');
    let both = left.split(',').zip(resets);
    let used_up = both.filter(|(left, _)| is_used_up(left));
    used_up.filter_map(|(_, reset)| wait(reset.trim())).max()
}

fn is_used_up(left: &str) -> bool {
    left.trim().parse::<f64>().is_ok_and(|left| left <= 0.0)
}

/// The waits for exhausted limits: `"default";r=0;t=30` in draft 08 and later, `limit=9, remaining=0, reset=30` in
/// draft 07 (draft-ietf-httpapi-ratelimit-headers).
fn limits(value: &str, wait: impl Fn(&str) -> Option<Duration>) -> impl Iterator<Item = Duration> {
    let between = if value.contains(REMAINING) { ';' } else { ',' };
    value.split(between).filter_map(move |limit| {
        let named = |names: [&str; 2]| {
            let mut parameters = limit
                .split([',', ';'])
                .filter_map(|one| one.split_once('='));
            let found = parameters.find(|(name, _)| names.contains(&name.trim()))?;
            Some(found.1.trim())
        };
        is_used_up(named(["r", REMAINING])?).then(|| wait(named(["t", "reset"])?))?
    })
}
