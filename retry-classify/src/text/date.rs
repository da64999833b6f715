//! Parses points in time in the formats of HTTP and RFC 3339, and in common variations of both.

use core::time::Duration;
use std::time::SystemTime;

/// Non-standard endings of dates that otherwise follow HTTP.
const ZONES: [&str; 3] = [" UTC", " +0000", " -0000"];

/// Parses the whole text as a point in time.
pub(crate) fn date(value: &str) -> Option<SystemTime> {
    let zone = ZONES.iter().find_map(|zone| value.strip_suffix(zone));
    let in_gmt = zone.map(|date| format!("{date} GMT"));
    let date = httpdate::parse_http_date(in_gmt.as_deref().unwrap_or(value));
    date.ok().or_else(|| rfc3339(zone.unwrap_or(value)))
}

/// Parses an RFC 3339 date with or without an offset from UTC.
fn rfc3339(value: &str) -> Option<SystemTime> {
    let parsed = |text| humantime::parse_rfc3339_weak(text).ok();
    let (local, offset) = value.split_at_checked(value.len().saturating_sub("+00:00".len()))?;
    let ahead = offset.get(1..).and_then(|offset| {
        let (hours, minutes) = offset.split_once(':')?;
        let minutes = hours.parse::<u64>().ok()? * 60 + minutes.parse::<u64>().ok()?;
        Some(Duration::from_secs(minutes * 60))
    });
    match (offset.chars().next(), ahead) {
        (Some('+'), Some(ahead)) => parsed(local)?.checked_sub(ahead),
        (Some('-'), Some(ahead)) => parsed(local)?.checked_add(ahead),
        _ => parsed(value),
    }
}
