//! Weighs a model API's error in the body against the status and the headers.

use core::time::Duration;

use http::{HeaderMap, StatusCode};

use super::retry_after::{asks_to_wait, server_time};
use super::{InBody, by_status_and_headers, is_throttled, should_retry};
use crate::llm::{By, Fault, ProviderError};
use crate::status::stopped;
use crate::text::wait::{time_in, wait_in};
use crate::verdict::LONGEST_HINT;
use crate::{Classify, Verdict};

/// How GitHub calls its secondary limits, today and before.
const SECONDARY: [&str; 2] = ["secondary rate limit", "abuse detection"];
/// The least that GitHub asks to wait for them.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

impl ProviderError {
    /// The verdict on an answer, from what its status, headers and body say.
    pub(crate) fn weighed(&self, status: StatusCode, headers: &HeaderMap) -> Verdict {
        let by_headers = by_status_and_headers(status, headers);
        let verdict = match self.fault {
            Fault::Billing | Fault::TooLong | Fault::Filtered => stopped(status.as_u16()),
            _ if should_retry(headers).is_some() => by_headers,
            _ if self.is_final => stopped(status.as_u16()),
            // As an event of a stream that began so.
            fault if status.is_success() => fault.classify(),
            // AWS's codes say more than its statuses, and these leave open what was done.
            Fault::Internal | Fault::Timeout if self.is_of_aws => Verdict::TRANSIENT.ambiguous(),
            Fault::Throttled => Verdict::THROTTLED,
            Fault::Overloaded => Verdict::TRANSIENT,
            Fault::Internal | Fault::Timeout | Fault::Invalid | Fault::Unknown => by_headers,
        };
        let until = || {
            time_in(&self.message)?
                .duration_since(server_time(headers))
                .ok()
        };
        let in_message = || {
            let wait = wait_in(&self.message).or_else(until);
            wait.filter(|wait| is_throttled(status, verdict) && *wait <= LONGEST_HINT)
        };
        let leaves_open = status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT;
        let body = InBody {
            wait: self.retry_after.or_else(in_message),
            asks: self.asks_itself,
            refuses: match self.by {
                By::Name => true,
                By::Quote | By::Part => false,
                By::Others => !leaves_open,
            },
        };
        let verdict = Verdict::of_answer(status, headers, verdict, body);
        if self.is_secondary() && verdict.is_retryable() && asks_to_wait(headers).is_none() {
            // What is reset before is another limit.
            return verdict.after(verdict.hint().unwrap_or_default().max(SECONDARY_WAIT));
        }
        verdict
    }

    /// Whether the limit is one of those of which GitHub doesn't tell when they are lifted.
    fn is_secondary(&self) -> bool {
        SECONDARY.iter().any(|limit| self.message.contains(limit))
    }
}
