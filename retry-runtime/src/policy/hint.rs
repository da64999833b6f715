use core::time::Duration;

/// The effect of a server's hint (`Retry-After` and similar) on the delay: the key `hint`.
///
/// `"honor"` and `"clamp"` add a random part to the hint, so that clients that received the same hint don't all return
/// at once. The random part is at most the largest of these: the range of the policy's own jitter at that retry, a
/// tenth of the hint, and 100 ms. With `jitter = "none"` nothing is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// `"honor"`, the default: wait at least as long as the server asked, and never less than the policy's shortest
    /// delay. A hint above `max_hint` ends the call.
    #[default]
    Honor,
    /// `"clamp"`: like `"honor"`, but cut a longer hint to `max_hint`. Without a `max_hint`, the limit is 5 s above the
    /// policy's shortest delay, as in AWS SDKs ("Retry Behavior 2.1", 2026).
    Clamp,
    /// `"exact"`: wait as long as the server asked, regardless of the policy's own delay. Nothing is added: use it only
    /// for servers that give each client its own wait. A hint above `max_hint` ends the call.
    Exact,
    /// `"ignore"`: wait the policy's own delay.
    Ignore,
}

/// The least upper bound of the random part.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// The amount by which a hint may exceed the policy's own delay with [`Hint::Clamp`] if `max_hint` is not set.
const CLAMP_SPAN: Duration = Duration::from_secs(5);

impl Hint {
    /// The range from which the wait is drawn, both ends included, after the server asked for `hint`. `own` is the
    /// policy's range without a hint, and `longest` its longest accepted hint. `None` if the hint has no effect.
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
