//! The AWS SDK: failures as the client of one service gives them, classified and counted.

use std::time::Duration;

use aws_sdk_sts::Client;
use aws_sdk_sts::config::retry::RetryConfig;
use aws_sdk_sts::config::timeout::TimeoutConfig;
use aws_sdk_sts::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_sts::error::SdkError;
use aws_sdk_sts::operation::get_caller_identity::{
    GetCallerIdentityError, GetCallerIdentityOutput,
};
use retry_clients::aws_sdk::classify;
use retry_runtime::{Verdict, retry, testing};

use support::scripted::{
    self, Answer, PATIENCE, Server, answer, answer_with, closed, closed_port, cut,
};
use support::verdicts::BROKEN;

fn refused(code: &str) -> String {
    format!(
        "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>"
    )
}

struct Identity(Client);

impl Identity {
    fn with(url: &str, retries: RetryConfig, patience: Duration) -> Self {
        let timeouts = TimeoutConfig::builder().operation_attempt_timeout(patience);
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("a", "b", None, None, "test"))
            .endpoint_url(url)
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .timeout_config(timeouts.build())
            .retry_config(retries);
        Self(Client::from_conf(config.build()))
    }

    fn at(url: &str, patience: Duration) -> Self {
        Self::with(url, RetryConfig::disabled(), patience)
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn caller(&self) -> Result<GetCallerIdentityOutput, SdkError<GetCallerIdentityError>> {
        self.0.get_caller_identity().send().await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    let patience = answer.patience();
    scripted::check(answer, expected, classify, async |url| {
        Identity::at(url, patience).caller().await
    })
    .await;
}

#[tokio::test]
async fn statuses() {
    for status in [408, 500, 502, 503, 504] {
        check(answer(status, &refused("Other")), BROKEN).await;
    }
    check(answer(425, &refused("Other")), Verdict::TRANSIENT).await;
    check(answer(429, &refused("Other")), Verdict::THROTTLED).await;
    for status in [400, 401, 403, 404, 409, 501] {
        check(answer(status, &refused("Other")), Verdict::STOP).await;
    }
}

#[tokio::test]
async fn codes() {
    for code in [
        "ThrottlingException",
        "SlowDown",
        "ProvisionedThroughputExceededException",
    ] {
        check(answer(400, &refused(code)), Verdict::THROTTLED).await;
        check(answer(503, &refused(code)), Verdict::THROTTLED).await;
    }
    for code in ["RequestTimeout", "InternalError"] {
        check(answer(400, &refused(code)), BROKEN).await;
        check(answer(503, &refused(code)), BROKEN).await;
        // Even with a wait, they may have taken effect.
        let asked = [("retry-after", "2")];
        let hinted = BROKEN.after(Duration::from_secs(2));
        check(answer_with(503, &asked, &refused(code)), hinted).await;
    }
    check(answer(403, &refused("ExpiredToken")), Verdict::STOP).await;
}

#[tokio::test]
async fn hints() {
    let asked = [("x-amz-retry-after", "1500")];
    let hint = Verdict::THROTTLED.after(Duration::from_millis(1500));
    check(answer_with(400, &asked, &refused("Throttling")), hint).await;
    check(answer_with(400, &asked, &refused("Other")), Verdict::STOP).await;
    let both = [("x-amz-retry-after", "1500"), ("retry-after", "2")];
    let hint = Verdict::THROTTLED.after(Duration::from_secs(2));
    check(answer_with(400, &both, &refused("Throttling")), hint).await;
    let hint = Verdict::TRANSIENT.after(Duration::from_secs(2));
    check(answer_with(503, &both, &refused("Other")), hint).await;
}

#[tokio::test]
async fn transport() {
    check(closed(), BROKEN).await;
    check(cut(), BROKEN).await;
    check(Answer::Nothing, Verdict::TIMEOUT).await;
    let _skipped = testing::skip_sleeps();
    let identity = Identity::at(&closed_port(), PATIENCE);
    let error = identity.caller().await.unwrap_err();
    assert_eq!(classify(&error), BROKEN, "{error:?}");
}

/// The effect that the setting prevents.
#[tokio::test]
async fn the_default_client_multiplies_requests() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, &refused("Other"))]);
    let retries = RetryConfig::standard().with_initial_backoff(Duration::from_millis(1));
    let identity = Identity::with(&server.url, retries, PATIENCE);
    identity.caller().await.unwrap_err();
    assert_eq!(server.requests(), 12);
}
