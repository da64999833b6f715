use core::time::Duration;

/// What a server's hint (`Retry-After` and its relatives) does to the delay: the key `hint`.
///
/// `"honor"` and `"clamp"` add a random part to the hint, so that clients told the same wait don't come back in one wave. It
/// is up to what the policy's own jitter spans at that retry, a tenth of the hint, or 100 ms, whichever is most. With
/// `jitter = "none"` nothing is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// `"honor"`, the default: wait at least as long as the server asked, and never less than the policy's shortest delay.
    /// A hint above `max_hint` ends the call.
    #[default]
    Honor,
    /// `"clamp"`: wait as with `"honor"`, but cut a longer hint to `max_hint`. Without a `max_hint`, count at most 5 s more
    /// than the policy's shortest delay, as AWS SDKs do ("Retry Behavior 2.1", 2026).
    Clamp,
    /// `"exact"`: wait as long as the server asked, in place of the policy's own delay, be that longer or shorter. Nothing is added: use it
    /// only for servers that give each client its own wait. A hint above `max_hint` ends the call.
    Exact,
    /// `"ignore"`: wait the policy's own delay.
    Ignore,
}

/// The least range of the random part.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// How far above the policy's own delay [`Hint::Clamp`] lets a hint go where no `max_hint` is named.
const CLAMP_SPAN: Duration = Duration::from_secs(5);

impl Hint {
    /// What the wait is drawn from, both ends included, after the server asked for `hint` and where the policy alone
    /// would draw from `own` and names `longest`. `None` where the hint has no say.
    pub(crate) fn range(
        self,
        own: (Duration, Duration),
        hint: Duration,
        longest: Option<Duration>,
        is_jittered: bool,
    ) -> Option<(Duration, Duration)> {
        let (shortest, own_longest) = own;
        let hint = match self {
            Self::Honor => hint,
            Self::Clamp => hint.min(longest.unwrap_or(shortest.saturating_add(CLAMP_SPAN))),
            Self::Exact => return Some((hint, hint)),
            Self::Ignore => return None,
        };
        let from = hint.max(shortest);
        if !is_jittered {
            return Some((from, from));
        }
        let spread = (hint / 10)
            .max(LEAST_SPREAD)
            .max(own_longest.saturating_sub(shortest));
        Some((from, from.saturating_add(spread)))
    }
}
