//! When a limit is reset, from the headers that tell what is left of it.

use core::time::Duration;

use http::HeaderMap;

use crate::classify::retry_after::{Due, first, server_time};

const REMAINING: &str = "remaining";
/// What a header that tells when the limit is reset has in that place: Azure Resource Graph's is the second.
const RESETS: [&str; 2] = ["reset", "resets-after"];
/// Several limits in one header.
const LIMITS: &str = "ratelimit";
/// The limits of a subscription: which of them refused is not told, but until when.
const UNIFIED_STATUS: &str = "anthropic-ratelimit-unified-status";
const UNIFIED_RESET: &str = "anthropic-ratelimit-unified-reset";

/// The longest wait until a limit that is used up is reset. A limit with something left did not refuse the request, or
/// nobody knows how much it asked for.
pub(crate) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = server_time(headers);
    let wait = |value: &str| match Due::read(value)? {
        Due::After(wait) => Some(wait),
        // It was reset before the answer arrived.
        Due::At(time) => Some(time.duration_since(now).unwrap_or_default()),
    };
    let used_up = headers.iter().filter_map(|(name, left)| {
        let name = name.as_str();
        let is_of_limit = name.contains("limit") || name.contains("quota");
        let is_left = is_of_limit && name.contains(REMAINING);
        (is_left && is_used_up(left.to_str().ok()?))
            .then(|| RESETS.map(|reset| name.replace(REMAINING, reset)))
    });
    let is_allowed = headers
        .get(UNIFIED_STATUS)
        .is_some_and(|status| status.as_bytes().starts_with(b"allowed"));
    let unified = (!is_allowed).then(|| UNIFIED_RESET.into());
    let names = used_up.flatten().chain(unified);
    let waits = names.filter_map(|name| first(headers, &name, wait));
    let together = first(headers, LIMITS, |value| limits(value, wait).max());
    waits.chain(together).max()
}

fn is_used_up(left: &str) -> bool {
    left.trim().parse::<f64>().is_ok_and(|left| left <= 0.0)
}

/// The waits for limits that are used up: `"default";r=0;t=30` in drafts from 08 on, `limit=9, remaining=0, reset=30` in 07
/// (draft-ietf-httpapi-ratelimit-headers).
fn limits(value: &str, wait: impl Fn(&str) -> Option<Duration>) -> impl Iterator<Item = Duration> {
    let between = if value.contains(REMAINING) { ';' } else { ',' };
    value.split(between).filter_map(move |limit| {
        let named = |names: [&str; 2]| {
            let mut parameters = limit
                .split([',', ';'])
                .filter_map(|one| one.split_once('='));
            let found = parameters.find(|(name, _)| names.contains(&name.trim()));
            found.map(|(_, value)| value.trim())
        };
        is_used_up(named(["r", REMAINING])?).then(|| wait(named(["t", "reset"])?))?
    })
}
