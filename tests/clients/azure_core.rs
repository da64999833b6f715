//! The Azure SDK: failures as the pipeline of its clients reports them, classified and counted.

use azure_core::Error;
use azure_core::error::ErrorKind;
use azure_core::http::{
    ClientOptions, Context, Method, Pipeline, Request, RetryOptions, Transport,
};
use reqwest_0_13 as reqwest;
use retry_clients::azure_core::classify;
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, answer_with, closed, cut};
use support::verdicts::BROKEN;

use crate::untrusted::Untrusted;

struct Store {
    pipeline: Pipeline,
    url: String,
}

impl Store {
    fn over(http: reqwest::ClientBuilder, url: &str) -> Self {
        let http = http.no_proxy();
        let options = ClientOptions {
            retry: RetryOptions::none(),
            transport: Some(Transport::new(Arc::new(http.build().unwrap()))),
            ..ClientOptions::default()
        };
        let pipeline = Pipeline::new(None, None, options, Vec::new(), Vec::new(), None);
        let url = url.to_owned();
        Self { pipeline, url }
    }

    fn at(url: &str, patience: Duration) -> Self {
        Self::over(reqwest::Client::builder().timeout(patience), url)
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn read(&self) -> Result<(), Error> {
        let mut request = Request::new(self.url.parse()?, Method::Get);
        let context = Context::new();
        let answer = self.pipeline.send(&context, &mut request, None);
        answer.await.map(drop)
    }
}

async fn check(answer: Answer, expected: Verdict) {
    let patience = answer.patience();
    scripted::check(answer, expected, classify, async |url| Store::at(url, patience).read().await)
        .await;
}

#[tokio::test]
async fn answers() {
    let busy = r#"{"error":{"code":"ServerBusy","message":"no"}}"#;
    check_rows! { check:
        [408, 500, 502, 503, 504] "busy" => BROKEN,
        [503] busy => BROKEN,
        [425] "" => Verdict::TRANSIENT,
        [429] "" => Verdict::THROTTLED,
        [400, 401, 403, 404, 409, 412, 501] "no" => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        Answer::Nothing => Verdict::TIMEOUT,
        Answer::Absent => Verdict::TRANSIENT,
    }
}

#[tokio::test]
async fn hints() {
    for (name, value, wait) in [
        ("retry-after", "2", 2000),
        ("retry-after-ms", "70", 70),
        ("x-ms-retry-after-ms", "70", 70),
    ] {
        let hint = |verdict: Verdict| verdict.after(Duration::from_millis(wait));
        let answered = |status| answer_with(status, &[(name, value)], "");
        check(answered(429), hint(Verdict::THROTTLED)).await;
        check(answered(503), hint(Verdict::TRANSIENT)).await;
        check(answered(404), Verdict::STOP).await;
    }
}

#[tokio::test]
async fn an_untrusted_certificate_stops() {
    let http = reqwest::Client::builder().dns_resolver(Arc::new(Untrusted));
    let store = Store::over(http, "http://example.invalid/");
    let error = store.read().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Connection);
    assert_eq!(classify(&error), Verdict::STOP, "{error:?}");
}

#[test]
fn errors_made_of_others() {
    for (kind, expected) in [
        (io::ErrorKind::ConnectionRefused, Verdict::TRANSIENT),
        (io::ErrorKind::ConnectionReset, BROKEN),
        (io::ErrorKind::TimedOut, Verdict::TIMEOUT),
        (io::ErrorKind::NotFound, Verdict::STOP),
    ] {
        let error = Error::from(io::Error::from(kind));
        assert_eq!(classify(&error), expected, "{kind}");
        let error = error.with_context("of a file");
        assert_eq!(classify(&error), expected, "{kind}");
        // From an unknown transport, which sent nothing.
        let error = Error::new(ErrorKind::Connection, io::Error::from(kind));
        let expected = if expected.is_retryable() { Verdict::TRANSIENT } else { Verdict::STOP };
        assert_eq!(classify(&error), expected, "{kind}");
    }
    // From an unknown transport.
    for (kind, expected) in [(ErrorKind::Connection, Verdict::TRANSIENT), (ErrorKind::Io, BROKEN)] {
        assert_eq!(classify(&Error::with_message(kind, "no")), expected);
    }
}

#[test]
fn permanent_failures_stop() {
    for kind in [ErrorKind::DataConversion, ErrorKind::Credential, ErrorKind::Other] {
        assert_eq!(classify(&Error::with_message(kind, "no")), Verdict::STOP);
    }
}
