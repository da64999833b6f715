use std::time::Duration;

use crate::random;

/// What a server's hint (`Retry-After` and its relatives) does to the delay: the key `hint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// `"honor"`, the default: wait at least as long as the server asked, plus jitter on top, so that
    /// clients told the same wait do not come back as one wave. The addition is drawn from 0 to a tenth
    /// of the hint, or to 100 ms where that is more; with `jitter = "none"` nothing is added. A hint
    /// above `max_hint` ends the call.
    #[default]
    Honor,
    /// `"clamp"`: wait as long as the server asked, but at least the policy's own delay and at most 5 s
    /// more than it, as AWS SDKs do ("Retry Behavior 2.1", 2026).
    Clamp,
    /// `"ignore"`: wait the policy's own delay.
    Ignore,
}

/// A longer wait is taken for a mistake, such as a point in time where a span was meant.
#[cfg(any(feature = "http", feature = "llm", feature = "tonic_0_14"))]
pub(crate) const LONGEST: Duration = Duration::from_hours(365 * 24);
/// The range of the jitter on top of a short hint.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// How far above the policy's own delay [`Hint::Clamp`] lets a hint go.
const CLAMP_SPAN: Duration = Duration::from_secs(5);

impl Hint {
    pub(crate) const WORDS: &[(&str, Self)] = &[
        ("honor", Self::Honor),
        ("clamp", Self::Clamp),
        ("ignore", Self::Ignore),
    ];

    /// The wait after the server asked for `hint` where the policy alone would wait `delay`.
    pub(crate) fn wait(self, delay: Duration, hint: Duration, jittered: bool) -> Duration {
        match self {
            Self::Honor if jittered => hint
                .saturating_add(random::uniform(Duration::ZERO, spread(hint)))
                .max(delay),
            Self::Honor => hint.max(delay),
            Self::Clamp => hint.clamp(delay, delay.saturating_add(CLAMP_SPAN)),
            Self::Ignore => delay,
        }
    }

    /// The longest wait that comes of the hint alone, where it is honoured.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn longest_wait(hint: Duration, jittered: bool) -> Duration {
        let spread = if jittered {
            spread(hint)
        } else {
            Duration::ZERO
        };
        hint.saturating_add(spread)
    }
}

fn spread(hint: Duration) -> Duration {
    (hint / 10).max(LEAST_SPREAD)
}
