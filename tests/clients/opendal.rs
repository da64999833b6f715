//! opendal: failures as its operators report them, classified and counted.

use opendal::services::Http;
use opendal::{Buffer, Error, ErrorKind, HttpTransporter, OperationContext, Operator};
use opendal_http_transport_reqwest::ReqwestTransport;
use reqwest_0_13 as reqwest;
use retry_clients::opendal::classify;
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, answer, closed, cut};
use support::verdicts::BROKEN;

struct Store(Operator);

impl Store {
    fn at(url: &str) -> Self {
        let transport = HttpTransporter::new(ReqwestTransport::new(reqwest::Client::new()));
        let operator = Operator::new(Http::default().endpoint(url)).unwrap();
        Self(operator.with_context(OperationContext::new().with_http_transport(transport)))
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn read(&self) -> Result<Buffer, Error> {
        self.0.read_with("a").range(0..3).await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Store::at(url).read().await).await;
}

#[tokio::test]
async fn answers() {
    check_rows! { check:
        [500, 502, 503, 504] "busy" => BROKEN,
        [400, 401, 403, 404, 412] "no" => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        Answer::Absent => BROKEN,
    }
}

/// This service calls 429 temporary; others call it a limit.
#[tokio::test]
async fn limits() {
    check(answer(429, "slow down"), BROKEN).await;
    let error = Error::new(ErrorKind::RateLimited, "slow down");
    assert_eq!(classify(&error), Verdict::THROTTLED);
}
