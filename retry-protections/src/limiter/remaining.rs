//! The remaining amounts of a server's limits, in the headers of a response.

pub(super) const REQUESTS: [&str; 4] = [
    "x-ratelimit-remaining-requests",
    "anthropic-ratelimit-requests-remaining",
    "x-ratelimit-remaining",
    "ratelimit-remaining",
];
pub(super) const TOKENS: [&str; 4] = [
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-output-tokens-remaining",
];

/// The smallest of these headers' values.
pub(super) fn read<'h>(names: [&str; 4], header: impl Fn(&str) -> Option<&'h str>) -> Option<u32> {
    let number = |name| -> Option<u64> { header(name)?.trim().parse().ok() };
    let least = names.into_iter().filter_map(number).min()?;
    Some(u32::try_from(least).unwrap_or(u32::MAX))
}
