//! octocrab: failures as its client reports them, classified and counted.

use octocrab::models::Repository;
use octocrab::service::middleware::retry::RetryConfig;
use octocrab::{Error, Octocrab};
use retry_clients::octocrab::classify;
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, answer_with, closed, cut};
use support::verdicts::BROKEN;

const NO: &str = r#"{"message":"no","documentation_url":"https://docs.github.com"}"#;

struct GitHub(Octocrab);

impl GitHub {
    fn with(url: &str, retries: RetryConfig) -> Self {
        let client = Octocrab::builder().base_uri(url).unwrap();
        Self(client.add_retry_config(retries).build().unwrap())
    }

    fn at(url: &str) -> Self {
        Self::with(url, RetryConfig::None)
    }

    #[retry(max = 3, jitter = "none", on = classify, max_hint = "1h")]
    async fn repository(&self) -> Result<Repository, Error> {
        self.0.repos("a", "b").get().await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| GitHub::at(url).repository().await)
        .await;
}

#[tokio::test]
async fn answers() {
    let hint = Verdict::TRANSIENT.after(Duration::from_secs(2));
    check_rows! { check:
        [408, 500, 502, 503, 504] NO => BROKEN,
        [425] NO => Verdict::TRANSIENT,
        answer_with(503, &[("retry-after", "2")], NO) => hint,
        [429] NO => Verdict::THROTTLED,
        [400, 401, 403, 404, 409, 422, 501] NO => Verdict::STOP,
        [502] "<html>" => BROKEN,
        [403] "<html>" => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        [200] "no JSON" => Verdict::STOP,
        Answer::Absent => Verdict::TRANSIENT,
    }
}

#[tokio::test]
async fn limits() {
    let hint = Verdict::THROTTLED.after(Duration::from_mins(1));
    for status in [403, 429] {
        check(answer_with(status, &[("retry-after", "60")], NO), hint).await;
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
        // Too small for a time since 1970: a number of seconds.
        let second = Verdict::THROTTLED.after(Duration::from_secs(1));
        check(answer_with(status, &used_up, NO), second).await;
    }
    // Read against the server's clock.
    let dated = [
        ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "784111807"),
    ];
    let hint = Verdict::THROTTLED.after(Duration::from_secs(30));
    check(answer_with(403, &dated, NO), hint).await;
    let not_used_up = [("x-ratelimit-remaining", "9"), ("x-ratelimit-reset", "1")];
    check(answer_with(403, &not_used_up, NO), Verdict::STOP).await;
    check(answer_with(404, &[("x-ratelimit-remaining", "0")], NO), Verdict::STOP).await;
}

/// Without a header for it.
#[tokio::test]
async fn a_secondary_limit_is_throttled() {
    let no = r#"{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}"#;
    let minute = Verdict::THROTTLED.after(Duration::from_mins(1));
    let left = [("x-ratelimit-remaining", "9"), ("x-ratelimit-reset", "1")];
    for status in [403, 429] {
        check(answer(status, no), minute).await;
        check(answer_with(status, &left, no), minute).await;
        let hint = Verdict::THROTTLED.after(Duration::from_secs(7));
        check(answer_with(status, &[("retry-after", "7")], no), hint).await;
        // The limit that was reset is another one.
        let past = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
        check(answer_with(status, &past, no), minute).await;
    }
    check(answer(404, no), Verdict::STOP).await;
}

/// The effect that the setting prevents.
#[tokio::test]
async fn the_default_client_multiplies_requests() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, NO)]);
    assert!(GitHub::with(&server.url, RetryConfig::Simple(3)).repository().await.is_err());
    assert_eq!(server.requests(), 16);
}
