/// Whether the name or description of a quota says that it is renewed daily, not after a short wait.
pub(crate) fn is_daily(quota: &str) -> bool {
    let letters: String = quota
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    letters.contains("perday") || letters.contains("daily")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_seen_however_it_is_spelt() {
        for daily in [
            "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "requests_per_day",
            "Requests per day",
            "Daily Limit for model queries exceeded",
        ] {
            assert!(is_daily(daily), "{daily}");
        }
        for not_daily in ["", "GenerateRequestsPerMinutePerProjectPerModel"] {
            assert!(!is_daily(not_daily), "{not_daily}");
        }
    }
}
