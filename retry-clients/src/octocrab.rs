//! [`octocrab`](https://docs.rs/octocrab/0.54) 0.54.
//!
//! ```
//! use octocrab::service::middleware::retry::RetryConfig;
//! use octocrab::{Octocrab, models::Repository};
//! use retry_clients::octocrab::classify;
//! use retry_runtime::retry;
//!
//! struct GitHub(Octocrab);
//!
//! impl GitHub {
//!     // GitHub asks for waits of up to an hour.
//!     #[retry(max = 5, on = classify, max_hint = "1h")]
//!     async fn repository(
//!         &self,
//!         owner: &str,
//!         name: &str,
//!     ) -> octocrab::Result<Repository> {
//!         self.0.repos(owner, name).get().await
//!     }
//! }
//!
//! fn client() -> octocrab::Result<GitHub> {
//!     // By default, this client sends up to four requests per call, without a pause.
//!     Ok(GitHub(Octocrab::builder().add_retry_config(RetryConfig::None).build()?))
//! }
//! # let _ = (GitHub::repository, client);
//! ```

use std::time::{Duration, SystemTime};

use ::octocrab::{Error, GitHubError};
use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, Verdict, retry_after, server_time};

/// The wait that GitHub asks for after a secondary rate limit.
const SECONDARY: Duration = Duration::from_secs(60);

/// Classifies an error from this client.
///
/// | failure | verdict |
/// |---|---|
/// | a response with 408 or a retryable 5xx, 503 only without `retry-after` | transient, ambiguous |
/// | 425, 503 with `retry-after` | transient: not processed |
/// | 429; 403 with `retry-after` or `x-ratelimit-remaining: 0`, or for a secondary rate limit | throttled |
/// | no connection | transient |
/// | a broken connection | transient, ambiguous |
/// | other statuses, GraphQL errors, unreadable responses, invalid requests | stop |
///
/// The hint is `retry-after`, or the time until `x-ratelimit-reset` by the server's own clock. For a secondary rate
/// limit without `retry-after` it is at least a minute, as GitHub requests ([Rate limits for the REST API][limits]).
///
/// [limits]: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
pub fn classify(error: &Error) -> Verdict {
    match error {
        Error::GitHub { source, .. } => response_verdict(source),
        Error::Service { source, .. } => source.classify(),
        Error::Hyper { source, .. } => source.classify(),
        _ => Verdict::STOP,
    }
}

fn response_verdict(answer: &GitHubError) -> Verdict {
    let none = HeaderMap::new();
    let headers = answer.headers.as_ref().unwrap_or(&none);
    let used_up = headers
        .get("x-ratelimit-remaining")
        .is_some_and(|left| left == "0");
    let secondary = answer.message.contains("secondary rate limit");
    let verdict = if answer.status_code == StatusCode::FORBIDDEN
        && (used_up || secondary || retry_after(headers).is_some())
    {
        Verdict::from_http(StatusCode::TOO_MANY_REQUESTS, headers)
    } else {
        Verdict::from_http(answer.status_code, headers)
    };
    if !verdict.is_retryable() {
        return verdict;
    }
    let reset = answer.rate_limit_reset.filter(|_| used_up);
    let until_reset = || time_until(reset?, server_time(headers));
    let wait = verdict.hint().or_else(until_reset);
    match wait {
        // An earlier reset is the reset of a different limit.
        _ if secondary && retry_after(headers).is_none() => {
            verdict.after(wait.unwrap_or_default().max(SECONDARY))
        }
        Some(wait) => verdict.after(wait),
        None => verdict,
    }
}

/// The time until the reset. Zero if it has passed.
fn time_until(seconds: u64, now: SystemTime) -> Option<Duration> {
    let reset = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    Some(reset.duration_since(now).unwrap_or_default())
}
