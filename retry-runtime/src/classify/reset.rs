//! When a limit is reset, from the headers that tell what is left of it.

use core::time::Duration;

use http::HeaderMap;

use crate::classify::retry_after::{Moment, first, server_time};

const REMAINING: &str = "remaining";
const RESET: &str = "reset";
/// The limits of a subscription: which of them refused is not told, but until when.
const UNIFIED_STATUS: &str = "anthropic-ratelimit-unified-status";
const UNIFIED_RESET: &str = "anthropic-ratelimit-unified-reset";

/// The longest wait until a limit that is used up is reset. A limit with something left did not refuse the request, or
/// nobody knows how much it asked for.
pub(crate) fn reset(headers: &HeaderMap) -> Option<Duration> {
    let now = server_time(headers);
    let used_up = headers.iter().filter_map(|(name, left)| {
        let name = name.as_str();
        let is_used_up = left.as_bytes().trim_ascii() == b"0";
        let is_of_limit = name.contains("limit") && name.contains(REMAINING);
        (is_of_limit && is_used_up).then(|| name.replace(REMAINING, RESET))
    });
    let is_allowed = headers
        .get(UNIFIED_STATUS)
        .is_some_and(|status| status.as_bytes().starts_with(b"allowed"));
    let unified = (!is_allowed).then(|| UNIFIED_RESET.into());
    let waits = used_up.chain(unified).filter_map(|name| {
        first(headers, &name, |value| match Moment::read(value)? {
            Moment::After(wait) => Some(wait),
            // It was reset before the answer arrived.
            Moment::At(time) => Some(time.duration_since(now).unwrap_or_default()),
        })
    });
    waits.max()
}
