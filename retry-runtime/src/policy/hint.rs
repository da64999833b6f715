/// The effect of a server's hint (`Retry-After` and similar) on the delay: the key `hint`.
///
/// `"honor"` and `"clamp"` add a random part to the hint, so that clients that received the same hint don't all return
/// at once. The random part is at most the largest of these: the range of the policy's own jitter at that retry, a
/// tenth of the hint, and 100 ms. With `jitter = "none"`, nothing is added.
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
    /// `"exact"`: wait as long as the server asked, regardless of the policy's own delay. Nothing is added, so use it
    /// only for servers that give each client its own wait. A hint above `max_hint` ends the call.
    Exact,
    /// `"ignore"`: wait for the policy's own delay.
    Ignore,
}
