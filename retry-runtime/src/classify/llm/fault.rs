use core::fmt;

use crate::classify::Classify;
use crate::classify::verdict::Verdict;

/// What is wrong, in terms common to all providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Too many requests or tokens at a time: `rate_limit_error`, `rate_limit_exceeded`, `slow_down`; Google's
    /// `RESOURCE_EXHAUSTED` where it names a wait (`RetryInfo`) or says "try again later".
    Throttled,
    /// The provider lacks capacity: `overloaded_error`, `UNAVAILABLE`, `server_is_overloaded`.
    Overloaded,
    /// The provider failed: `api_error`, `server_error`, `INTERNAL`.
    Internal,
    /// The provider took too long: `timeout_error`, `DEADLINE_EXCEEDED`.
    Timeout,
    /// Money, a spend limit or a quota of a day: `insufficient_quota`, `credit_balance_exhausted`,
    /// `…_spend_limit_exceeded`, `…_usage_limit_exceeded`, `enforced_spend_limit_reached`, `exceeded_current_quota_error`, `billing_error`; Google's
    /// `RESOURCE_EXHAUSTED` of a quota per day. No wait within a call heals it.
    Billing,
    /// Google's `RESOURCE_EXHAUSTED` without a wait: nobody knows which quota.
    Exhausted,
    /// The prompt is too long for the model, or for what the account may send at once: `context_length_exceeded`,
    /// `request_too_large`, "prompt is too long". A shorter one may succeed.
    TooLong,
    /// The prompt or the answer was blocked for its content: `content_policy_violation`, `content_filter`,
    /// `invalid_prompt`. Another model may answer.
    Filtered,
    /// The request is wrong or not allowed: `invalid_request_error`, `authentication_error`,
    /// `INVALID_ARGUMENT` and their relatives.
    Invalid,
    /// An error with no known type or code.
    Unknown,
}

impl Fault {
    /// What a `type`, `code` or `status` names. Case doesn't matter.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "rate_limit_error"
            | "rate_limit_exceeded"
            | "rate_limit_reached_error"
            | "slow_down"
            | "too_many_requests" => Self::Throttled,
            "overloaded_error"
            | "overloaded"
            | "server_is_overloaded"
            | "engine_overloaded"
            | "engine_overloaded_error"
            | "service_unavailable"
            | "service_unavailable_error"
            | "unavailable" => Self::Overloaded,
            "api_error"
            | "server_error"
            | "internal_error"
            | "internal_server_error"
            | "internal" => Self::Internal,
            "timeout_error" | "request_timeout" | "deadline_exceeded" => Self::Timeout,
            "insufficient_quota"
            | "credit_balance_exhausted"
            | "billing_error"
            | "billing_not_active"
            | "billing_hard_limit_reached"
            | "enforced_spend_limit_reached"
            // Moonshot's, also behind gateways, with a 429.
            | "exceeded_current_quota_error" => Self::Billing,
            "resource_exhausted" => Self::Exhausted,
            "context_length_exceeded"
            | "request_too_large"
            | "string_above_max_length"
            // Of llama.cpp's server.
            | "exceed_context_size_error" => Self::TooLong,
            "content_filter"
            | "content_policy_violation"
            | "responsibleaipolicyviolation"
            | "moderation_blocked"
            | "data_inspection_failed"
            // Where OpenAI flags a prompt.
            | "invalid_prompt" => Self::Filtered,
            "invalid_request_error"
            | "authentication_error"
            | "permission_error"
            | "not_found_error"
            | "invalid_api_key"
            | "model_not_found"
            | "invalid_argument"
            | "unauthenticated"
            | "permission_denied"
            | "not_found"
            | "failed_precondition"
            | "out_of_range"
            | "unimplemented" => Self::Invalid,
            name if name.ends_with("_spend_limit_exceeded")
                || name.ends_with("_usage_limit_exceeded") =>
            {
                Self::Billing
            }
            name if name.ends_with("_rate_limit_exceeded") => Self::Throttled,
            _ => return None,
        })
    }

    /// What a `code` that is an HTTP status means: some servers send no other.
    pub(crate) fn of_status(status: u64) -> Option<Self> {
        Some(match status {
            429 => Self::Throttled,
            503 | 529 => Self::Overloaded,
            408 | 425 | 500 | 502 | 504 => Self::Internal,
            402 => Self::Billing,
            413 => Self::TooLong,
            400..=499 => Self::Invalid,
            _ => return None,
        })
    }
}

#[diagnostic::do_not_recommend]
impl Classify for Fault {
    fn classify(&self) -> Verdict {
        match self {
            Self::Throttled => Verdict::THROTTLED,
            // As a 503 and a 500 do, they leave open what was done before.
            Self::Overloaded | Self::Internal => Verdict::TRANSIENT.ambiguous(),
            Self::Timeout => Verdict::TIMEOUT,
            Self::Billing
            | Self::Exhausted
            | Self::TooLong
            | Self::Filtered
            | Self::Invalid
            | Self::Unknown => Verdict::STOP,
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
