//! What the keys of a policy mean, in one sentence each: for the help of programs and the schemas of files.

use crate::key::Key;

impl Key {
    /// What the key means, `None` where no policy has it. Without its default.
    pub const fn about(self) -> Option<&'static str> {
        Some(match self {
            Self::Max => "Retries after the first attempt: a number, or `unlimited`",
            Self::Backoff => {
                "Shape of the delays: `exp`, `fixed`, `linear`, `fibonacci`, `none`, or a list of delays; the last one repeats"
            }
            Self::Base => "First delay",
            Self::Factor => "Growth of the delays of `exp`, at least 1",
            Self::Cap => "Longest delay, jitter included",
            Self::Floor => "Shortest delay, jitter included",
            Self::Jitter => {
                "Randomness of the delays: `full`, `equal`, `decorrelated`, `none`, or a ratio from 0 to 1, where 0.2 is ±20 %"
            }
            Self::Hint => {
                "What a server's hint does, such as `Retry-After`: `honor` waits that long, `clamp` at most 5s more than the delay, `ignore` as if there were none"
            }
            Self::MaxHint => "Longest hint that is honored: a longer one ends the call",
            Self::Timeout => "Time limit for each attempt",
            Self::Deadline => "Time limit for the whole call",
            Self::Enabled => "Whether there are retries at all: `true` or `false`",
            Self::Transient => "Other numbers for transient failures",
            Self::Throttled => "Other numbers for requests that the server throttled",
            Self::TimedOut => "Other numbers for timeouts",
            Self::Invalid => "Other numbers for values that failed validation",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Among;
    use crate::word::{Backoff, Hint, Jitter, Word};

    #[test]
    fn every_key_of_a_policy_has_a_meaning() {
        for key in Among::Attribute.keys() {
            assert_eq!(key.about().is_some(), key.is_of_policy(), "{key}");
        }
    }

    #[test]
    fn every_word_is_named() {
        let words = [
            (Key::Backoff, Backoff::words()),
            (Key::Jitter, Jitter::words()),
            (Key::Hint, Hint::words()),
        ];
        for (key, words) in words {
            for word in words {
                let about = key.about().unwrap_or_default();
                assert!(about.contains(&format!("`{word}`")), "{key}: {word}");
            }
        }
    }
}
