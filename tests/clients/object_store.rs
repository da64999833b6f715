//! `object_store`: failures as its stores report them, classified and counted.

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, Error, GetResult, ObjectStoreExt, RetryConfig};
use retry_clients::object_store::{classify, no_retries};
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, closed, cut};
use support::verdicts::BROKEN;

use crate::untrusted::Untrusted;

struct Store(HttpStore);

impl Store {
    fn with(url: &str, retries: RetryConfig) -> Self {
        let options =
            ClientOptions::new().with_allow_http(true).with_timeout(Duration::from_secs(1));
        let store = HttpBuilder::new().with_url(url).with_client_options(options);
        Self(store.with_retry(retries).build().unwrap())
    }

    fn at(url: &str) -> Self {
        Self::with(url, no_retries())
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn read(&self) -> Result<GetResult, Error> {
        self.0.get(&Path::from("a")).await
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn read_whole(&self) -> Result<Vec<u8>, Error> {
        let found = self.0.get(&Path::from("a")).await?;
        Ok(found.bytes().await?.into())
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Store::at(url).read().await).await;
}

#[tokio::test]
async fn answers() {
    let slow_down = "<Error><Code>SlowDown</Code></Error>";
    check_rows! { check:
        [408, 500, 502, 503, 504] "" => BROKEN,
        [408, 500, 502, 503, 504] "busy" => BROKEN,
        [425] "busy" => Verdict::TRANSIENT,
        [429] "busy" => Verdict::THROTTLED,
        [503] slow_down => Verdict::THROTTLED,
        [400] slow_down => Verdict::STOP,
        [400, 401, 403, 404, 409, 412, 501] "no" => Verdict::STOP,
        closed() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        Answer::Absent => Verdict::TRANSIENT,
    }
    let read = async |url: &str| Store::at(url).read_whole().await;
    scripted::check(cut(), BROKEN, classify, read).await;
}

#[tokio::test]
async fn an_untrusted_certificate_stops() {
    let http = reqwest_0_13::Client::builder().no_proxy();
    let http = http.dns_resolver(Arc::new(Untrusted)).build().unwrap();
    let failed = http.get("http://example.invalid/").send().await;
    let failed = HttpError::new(HttpErrorKind::Connect, failed.unwrap_err());
    let error = Error::Generic { store: "HTTP", source: failed.into() };
    assert_eq!(classify(&error), Verdict::STOP, "{error:?}");
}

/// The effect that the setting prevents.
#[tokio::test]
async fn the_default_store_multiplies_requests() {
    let _skipped = testing::skip_sleeps();
    let server = Server::start([answer(503, "busy")]);
    let retries = RetryConfig {
        max_retries: 2,
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(1),
            max_backoff: Duration::from_millis(1),
            base: 2.0,
        },
        ..RetryConfig::default()
    };
    Store::with(&server.url, retries).read().await.unwrap_err();
    assert_eq!(server.requests(), 12);
}

struct S3(AmazonS3);

impl S3 {
    fn at(url: &str) -> Self {
        let s3 = AmazonS3Builder::new().with_endpoint(url).with_region("r");
        let s3 = s3.with_bucket_name("b").with_skip_signature(true);
        let s3 = s3.with_allow_http(true).with_retry(no_retries());
        Self(s3.build().unwrap())
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn copy(&self) -> Result<(), Error> {
        self.0.copy(&Path::from("a"), &Path::from("b")).await
    }
}

/// S3 can respond with 200 and an error.
#[tokio::test]
async fn errors_in_a_200_are_classified() {
    for (code, expected) in [("SlowDown", Verdict::THROTTLED), ("InternalError", BROKEN)] {
        let body = format!("<Error><Code>{code}</Code></Error>");
        let copy = async |url: &str| S3::at(url).copy().await;
        scripted::check(answer(200, &body), expected, classify, copy).await;
    }
    // With a code that the store doesn't check.
    let error = Error::Generic {
        store: "S3",
        source: "Server returned error response: <Error><Code>AccessDenied</Code></Error>".into(),
    };
    assert_eq!(classify(&error), Verdict::STOP);
}
