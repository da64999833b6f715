//! Verdicts that many tests expect.

use retry_runtime::Verdict;

/// The server failed, or the connection broke, and the request may have taken effect.
pub const BROKEN: Verdict = Verdict::TRANSIENT.ambiguous();
