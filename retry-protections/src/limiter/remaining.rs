/// The remaining amounts of a server's limits, from the headers of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    pub(super) requests: Option<u32>,
    pub(super) tokens: Option<u32>,
}

const REQUESTS: [&str; 4] = [
    "x-ratelimit-remaining-requests",
    "anthropic-ratelimit-requests-remaining",
    "x-ratelimit-remaining",
    "ratelimit-remaining",
];
const TOKENS: [&str; 4] = [
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-output-tokens-remaining",
];

pub(super) fn remaining<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Remaining {
    let least = |names: [&str; 4]| {
        let values = names.into_iter().filter_map(|name| number(header(name)?));
        values.min()
    };
    Remaining {
        requests: least(REQUESTS),
        tokens: least(TOKENS),
    }
}

fn number(value: &str) -> Option<u32> {
    let number: u64 = value.trim().parse().ok()?;
    Some(u32::try_from(number).unwrap_or(u32::MAX))
}
