use core::fmt;

use crate::status::by_status;
use crate::{Classify, Verdict};

/// A fault of a model API, in terms common to all providers.
///
/// The names below are examples. The guide lists all known names ("Which failures are worth a retry").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Too many requests or tokens at once: `rate_limit_error`, `rate_limit_exceeded`, `slow_down`,
    /// `RESOURCE_EXHAUSTED`.
    Throttled,
    /// The provider lacks capacity: `overloaded_error`, `UNAVAILABLE`, `server_is_overloaded`.
    Overloaded,
    /// The provider failed: `api_error`, `server_error`, `INTERNAL`.
    Internal,
    /// The provider took too long: `timeout_error`, `DEADLINE_EXCEEDED`.
    Timeout,
    /// A missing payment, a spend limit, or a daily or monthly quota: `insufficient_quota`, `billing_error`,
    /// "Insufficient balance", `RESOURCE_EXHAUSTED` for a daily quota. Waiting within a call does not help.
    Billing,
    /// The prompt is too long for the model, or for the account's limit per request: `context_length_exceeded`,
    /// `request_too_large`, "prompt is too long". A shorter prompt may succeed.
    TooLong,
    /// The prompt or the answer was blocked for its content: `content_policy_violation`, `content_filter`,
    /// `invalid_prompt`. Another model may answer.
    Filtered,
    /// The request is wrong or not allowed: `invalid_request_error`, `authentication_error`, `INVALID_ARGUMENT` and
    /// similar.
    Invalid,
    /// An error with no known type or code.
    Unknown,
}

impl Fault {
    /// The fault for an HTTP status in the field `code`. Some servers send no other code.
    pub(crate) fn of_status(status: u16) -> Option<Self> {
        Some(match status {
            420 | 429 => Self::Throttled,
            503 | 529 => Self::Overloaded,
            402 => Self::Billing,
            413 => Self::TooLong,
            status if by_status(status).is_retryable() => Self::Internal,
            400..=599 => Self::Invalid,
            _ => return None,
        })
    }
}

#[diagnostic::do_not_recommend]
impl Classify for Fault {
    fn classify(&self) -> Verdict {
        match self {
            Self::Throttled => Verdict::THROTTLED,
            // Like a 503 or a 500, these faults don't show whether the request had an effect.
            Self::Overloaded | Self::Internal => Verdict::TRANSIENT.ambiguous(),
            Self::Timeout => Verdict::TIMEOUT,
            Self::Billing | Self::TooLong | Self::Filtered | Self::Invalid | Self::Unknown => {
                Verdict::STOP
            }
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
