//! Where the guide says what a reason means: once in a process for each.

#[cfg(feature = "std")]
use crate::observe::once_per_name::OncePerName;

/// The page, whose headings are the reasons.
#[cfg(feature = "std")]
const PAGE: &str =
    "https://docs.rs/retry-runtime/latest/retry_runtime/guide/troubleshooting/index.html#";

#[cfg(feature = "std")]
#[cold]
#[inline(never)]
pub(crate) fn tell(reason: &str) {
    static EXPLAINED: OncePerName = OncePerName::new();

    // Asked first: who turns the level up later is told then.
    if tracing::enabled!(target: "retry::reason", tracing::Level::DEBUG) && EXPLAINED.is_new(reason)
    {
        let heading = reason.replace(' ', "-");
        tracing::debug!(target: "retry::reason", reason, "what to do about it: {PAGE}{heading}");
    }
}

/// There is no lock to remember reasons behind.
#[cfg(not(feature = "std"))]
pub(crate) fn tell(_: &str) {}
