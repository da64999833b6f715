//! The AWS SDK: failures as the client of one service reports them, classified and counted.

use aws_sdk_sts::Client;
use aws_sdk_sts::config::retry::RetryConfig;
use aws_sdk_sts::config::timeout::TimeoutConfig;
use aws_sdk_sts::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_sts::error::SdkError;
use aws_sdk_sts::operation::get_caller_identity::{
    GetCallerIdentityError, GetCallerIdentityOutput,
};
use retry_clients::aws_sdk::classify;
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, PATIENCE, Server, answer, answer_with, closed, cut};
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
async fn answers() {
    let other = &refused("Other");
    check_rows! { check:
        [408, 500, 502, 503, 504] other => BROKEN,
        [425] other => Verdict::TRANSIENT,
        [429] other => Verdict::THROTTLED,
        [400, 401, 403, 404, 409, 501] other => Verdict::STOP,
        [403] &refused("ExpiredToken") => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        Answer::Absent => BROKEN,
    }
    for code in ["ThrottlingException", "SlowDown", "ProvisionedThroughputExceededException"] {
        check_rows! { check: [400, 503] &refused(code) => Verdict::THROTTLED, }
    }
    for code in ["RequestTimeout", "InternalError"] {
        // Even with a wait, they may have taken effect.
        let asked = answer_with(503, &[("retry-after", "2")], &refused(code));
        check_rows! { check:
            [400, 503] &refused(code) => BROKEN,
            asked => BROKEN.after(Duration::from_secs(2)),
        }
    }
}

#[tokio::test]
async fn hints() {
    let asked = [("x-amz-retry-after", "1500")];
    let both = [("x-amz-retry-after", "1500"), ("retry-after", "2")];
    let hint = Duration::from_secs(2);
    check_rows! { check:
        answer_with(400, &asked, &refused("Throttling")) => Verdict::THROTTLED.after(Duration::from_millis(1500)),
        answer_with(400, &asked, &refused("Other")) => Verdict::STOP,
        answer_with(400, &both, &refused("Throttling")) => Verdict::THROTTLED.after(hint),
        answer_with(503, &both, &refused("Other")) => Verdict::TRANSIENT.after(hint),
    }
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
