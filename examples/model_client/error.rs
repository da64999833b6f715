//! What can go wrong, and what of it is worth a retry.

use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, TimedOut, Verdict};
use serde_json::Value;
use thiserror::Error;

/// Why there is no completion.
#[derive(Debug, Error)]
pub(crate) enum ModelError {
    /// The server said so.
    #[error("{} {message}", .status.as_u16())]
    Refused {
        status: StatusCode,
        message: String,
        verdict: Verdict,
    },
    /// The server wants less. The next attempt sends half of the longest message, of that many bytes.
    #[error("413 too large with a message of {0} bytes")]
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
    /// The server's refusal, judged while its headers and its body are at hand.
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
            // As long as there is something to halve.
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
        // Whatever the headers say: the same request fails the same way.
        _ if status.is_client_error() => Verdict::STOP,
        _ if is_passing(body) => Verdict::from_http(StatusCode::SERVICE_UNAVAILABLE, headers),
        _ => Verdict::from_http(status, headers),
    }
}

/// The vendor is in trouble, whatever the status.
fn is_passing(body: &Value) -> bool {
    details(body).any(|detail| {
        let detail = detail.to_lowercase();
        detail.contains("overloaded") || detail.contains("internal")
    })
}

/// No wait brings money.
fn is_out_of_money(body: &Value) -> bool {
    details(body).any(|detail| {
        matches!(
            detail,
            "insufficient_quota" | "credit_balance_exhausted" | "enforced_spend_limit_reached"
        ) || detail.ends_with("_spend_limit_exceeded")
            || detail.ends_with("_usage_limit_exceeded")
    })
}

/// What an error says: the same fields for every vendor, or a text.
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

/// One line of bounded length for the log.
fn message(status: StatusCode, body: &Value) -> String {
    let error = &body["error"];
    let said = [&error["message"], error, body]
        .into_iter()
        .find_map(Value::as_str)
        .and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    match said {
        Some(line) => line.trim().chars().take(200).collect(),
        None => String::from(status.canonical_reason().unwrap_or("without a message")),
    }
}

/// `reqwest` prints what it tried; why it failed is the last of the causes.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
