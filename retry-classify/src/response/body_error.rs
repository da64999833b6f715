//! The verdict on a response whose body contains a model API's error: combines that error with the status and the
//! headers.

use core::time::Duration;

use http::{HeaderMap, StatusCode};

use super::retry_after::{server_time, wait_header};
use super::{BodyFacts, by_status_and_headers, is_throttled, should_retry};
use crate::llm::{Fault, ProviderError, Source};
use crate::status::{final_verdict, may_recover};
use crate::text::wait::{wait_in, wait_until_in};
use crate::verdict::LONGEST_HINT;
use crate::{Classify, Verdict};

/// GitHub's names for its secondary limits, current and former.
const SECONDARY: [&str; 2] = ["secondary rate limit", "abuse detection"];
/// The minimum wait that GitHub asks for after a secondary limit.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

impl ProviderError {
    /// The verdict on a response, from its status, headers and body.
    pub(crate) fn classify_response(&self, status: StatusCode, headers: &HeaderMap) -> Verdict {
        let by_headers = by_status_and_headers(status, headers);
        let is_vague = status == StatusCode::FAILED_DEPENDENCY || may_recover(status.as_u16());
        let verdict = match self.fault {
            Fault::Billing | Fault::TooLong | Fault::Filtered => final_verdict(status.as_u16()),
            _ if should_retry(headers).is_some() => by_headers,
            _ if self.is_final => final_verdict(status.as_u16()),
            // Treated like an event in a stream that started with this status.
            fault if status.is_success() => fault.classify(),
            // AWS's codes are more precise than its statuses. These faults may occur after the request had an effect.
            Fault::Internal | Fault::Timeout if self.is_of_aws => Verdict::TRANSIENT.ambiguous(),
            // These statuses don't contradict a text that reports a server failure.
            Fault::Internal if self.source == Source::Text && is_vague => {
                Verdict::TRANSIENT.ambiguous()
            }
            // The gateway reports the server's rejection as its own failure.
            Fault::Invalid if self.source == Source::Quote && status.is_server_error() => {
                final_verdict(status.as_u16())
            }
            Fault::Throttled => Verdict::THROTTLED,
            Fault::Overloaded => Verdict::TRANSIENT,
            Fault::Internal | Fault::Timeout | Fault::Invalid | Fault::Unknown => by_headers,
        };
        let until = || wait_until_in(&self.message, server_time(headers));
        let in_message = || {
            let wait = wait_in(&self.message).or_else(until);
            wait.filter(|wait| is_throttled(status, verdict) && *wait <= LONGEST_HINT)
        };
        let leaves_open = status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT;
        let body = BodyFacts {
            wait: self.retry_after.or_else(in_message),
            asks_for_wait: self.asks_for_wait,
            is_refused: match self.source {
                Source::Name => true,
                Source::Quote | Source::Part => false,
                Source::Text | Source::Others => !leaves_open,
            },
        };
        let verdict = Verdict::for_response(status, headers, verdict, body);
        let is_secondary = SECONDARY.iter().any(|limit| self.message.contains(limit));
        // GitHub sends no reset time for secondary limits.
        if is_secondary && verdict.is_retryable() && wait_header(headers).is_none() {
            // A shorter hint is the reset time of another limit.
            return verdict.after(verdict.hint().unwrap_or_default().max(SECONDARY_WAIT));
        }
        verdict
    }
}
