//! The client's errors and their verdicts.

use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, TimedOut, Verdict};
use serde_json::Value;
use thiserror::Error;

/// The reason why a call returned no completion.
#[derive(Debug, Error)]
pub(crate) enum ModelError {
    /// The server returned an error.
    #[error("{} {message}", .status.as_u16())]
    Refused {
        status: StatusCode,
        message: String,
        verdict: Verdict,
    },
    /// The request is too large. Contains the length of the longest message in bytes. The next attempt sends half of
    /// that message.
    #[error("413 request too large: its longest message has {0} bytes")]
    TooLarge(usize),
    #[error("the answer has no completion")]
    NoCompletion,
    /// An attempt took too long.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    #[error("{}", innermost(.0))]
    Transport(#[from] reqwest::Error),
}

impl ModelError {
    /// Classifies an error response, while its headers and its body are available.
    pub(crate) fn refused(status: StatusCode, headers: &HeaderMap, body: &Value) -> Self {
        Self::Refused {
            status,
            message: message(status, body),
            verdict: verdict(status, headers, body),
        }
    }
}

impl Classify for ModelError {
    fn classify(&self) -> Verdict {
        match self {
            Self::Refused { verdict, .. } => *verdict,
            // Retryable as long as the message can be halved.
            Self::TooLarge(bytes) => Verdict::from(*bytes > 1),
            Self::NoCompletion => Verdict::STOP,
            Self::TimedOut(error) => error.classify(),
            Self::Transport(error) => error.classify(),
        }
    }
}

fn verdict(status: StatusCode, headers: &HeaderMap, body: &Value) -> Verdict {
    match status {
        StatusCode::TOO_MANY_REQUESTS if is_out_of_money(body) => Verdict::STOP,
        StatusCode::TOO_MANY_REQUESTS => Verdict::from_http(status, headers),
        // Ignores the headers, because the same request would fail again.
        _ if status.is_client_error() => Verdict::STOP,
        _ if is_temporary(body) => Verdict::from_http(StatusCode::SERVICE_UNAVAILABLE, headers),
        _ => Verdict::from_http(status, headers),
    }
}

/// Returns true if the body reports a temporary problem of the vendor, regardless of the status.
fn is_temporary(body: &Value) -> bool {
    details(body).any(|detail| {
        let detail = detail.to_lowercase();
        detail.contains("overloaded") || detail.contains("internal")
    })
}

/// Returns true if the account is out of money, so that waiting doesn't help.
fn is_out_of_money(body: &Value) -> bool {
    details(body).any(|detail| {
        matches!(
            detail,
            "insufficient_quota" | "credit_balance_exhausted" | "enforced_spend_limit_reached"
        ) || detail.ends_with("_spend_limit_exceeded")
            || detail.ends_with("_usage_limit_exceeded")
    })
}

/// Returns the details of an error: fields that all vendors have in common, or a text.
fn details(body: &Value) -> impl Iterator<Item = &str> {
    let error = &body["error"];
    [
        &error["type"],
        &error["code"],
        &error["message"],
        error,
        body,
    ]
    .into_iter()
    .filter_map(Value::as_str)
}

/// Returns a line of limited length for the log.
fn message(status: StatusCode, body: &Value) -> String {
    let error = &body["error"];
    let text = [&error["message"], error, body]
        .into_iter()
        .find_map(Value::as_str)
        .and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    match text {
        Some(line) => line.trim().chars().take(200).collect(),
        None => String::from(status.canonical_reason().unwrap_or("without a message")),
    }
}

/// Returns the last cause. `reqwest`'s own text contains only the attempted operation.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
