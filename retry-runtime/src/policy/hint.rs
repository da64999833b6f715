use std::time::Duration;

use retry_vocabulary::word;

/// What a server's hint (`Retry-After` and its relatives) does to the delay: the key `hint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// `"honor"`, the default: wait at least as long as the server asked, plus jitter, so that clients told the same
    /// wait don't come back in one wave. The addition is random, up to a tenth of the hint or up to 100 ms, whichever
    /// is more; with `jitter = "none"` nothing is added. A hint above `max_hint` ends the call.
    #[default]
    Honor,
    /// `"clamp"`: wait as long as the server asked, but at least the policy's own delay and at most 5 s
    /// more than it, as AWS SDKs do ("Retry Behavior 2.1", 2026).
    Clamp,
    /// `"ignore"`: wait the policy's own delay.
    Ignore,
}

/// The range of the jitter on top of a short hint.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// How far above the policy's own delay [`Hint::Clamp`] lets a hint go.
const CLAMP_SPAN: Duration = Duration::from_secs(5);

impl Hint {
    pub(crate) const fn from_word(word: word::Hint) -> Self {
        match word {
            word::Hint::Honor => Self::Honor,
            word::Hint::Clamp => Self::Clamp,
            word::Hint::Ignore => Self::Ignore,
        }
    }

    pub(crate) const fn word(self) -> word::Hint {
        match self {
            Self::Honor => word::Hint::Honor,
            Self::Clamp => word::Hint::Clamp,
            Self::Ignore => word::Hint::Ignore,
        }
    }

    /// What the wait is drawn from, both ends included, after the server asked for `hint` and where the policy alone
    /// would wait `delay`.
    pub(crate) fn range(
        self,
        delay: Duration,
        hint: Duration,
        is_jittered: bool,
    ) -> (Duration, Duration) {
        match self {
            Self::Honor if is_jittered => {
                let latest = hint.saturating_add(spread(hint));
                (hint.max(delay), latest.max(delay))
            }
            Self::Honor => (hint.max(delay), hint.max(delay)),
            Self::Clamp => {
                let wait = hint.clamp(delay, delay.saturating_add(CLAMP_SPAN));
                (wait, wait)
            }
            Self::Ignore => (delay, delay),
        }
    }
}

fn spread(hint: Duration) -> Duration {
    (hint / 10).max(LEAST_SPREAD)
}
