//! Points in time, in the formats of HTTP and RFC 3339, and in common variations of both.

use core::time::Duration;
use std::time::SystemTime;

/// Non-standard endings of dates that otherwise follow HTTP.
const ZONES: [&str; 3] = [" UTC", " +0000", " -0000"];

/// Parses the whole text as a point in time.
pub(crate) fn date(value: &str) -> Option<SystemTime> {
    let zone = ZONES.iter().find_map(|zone| value.strip_suffix(zone));
    let date = match zone {
        Some(date) => httpdate::parse_http_date(&format!("{date} GMT")),
        None => httpdate::parse_http_date(value),
    };
    date.ok().or_else(|| rfc3339(zone.unwrap_or(value)))
}

/// A date with or without an offset from UTC.
fn rfc3339(value: &str) -> Option<SystemTime> {
    let (at, offset) = match value.len().checked_sub("+00:00".len()) {
        Some(at) if value.is_char_boundary(at) => value.split_at(at),
        _ => (value, ""),
    };
    let ahead = |offset: &str| {
        let (hours, minutes) = offset.split_once(':')?;
        let minutes = hours.parse::<u64>().ok()? * 60 + minutes.parse::<u64>().ok()?;
        Some(Duration::from_secs(minutes * 60))
    };
    let local = humantime::parse_rfc3339_weak(at).ok();
    match (offset.strip_prefix('+'), offset.strip_prefix('-')) {
        (Some(offset), _) => local?.checked_sub(ahead(offset)?),
        (_, Some(offset)) if offset.contains(':') => local?.checked_add(ahead(offset)?),
        _ => humantime::parse_rfc3339_weak(value).ok(),
    }
}
