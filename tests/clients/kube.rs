//! kube: failures as its client reports them, classified and counted.

use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::WatchParams;
use kube::{Api, Client, Config, Error};
use retry_clients::kube::{classify, without_retries};
use support::check_rows;
use support::prelude::*;
use support::scripted::{Answer, Server, answer, broken_events, closed, cut, events};
use support::verdicts::BROKEN;

fn status(code: u16, details: &str) -> Answer {
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","code":{code},"message":"no","reason":"r","details":{details}}}"#
    );
    answer(code, &body)
}

struct Settings(Api<ConfigMap>);

impl Settings {
    fn with(config: Config) -> Self {
        Self(Api::namespaced(Client::try_from(config).unwrap(), "default"))
    }

    fn at(url: &str) -> Self {
        Self::with(without_retries(Config::new(url.parse().unwrap())))
    }

    #[retry(max = 3, jitter = "none", on = classify)]
    async fn read(&self) -> Result<ConfigMap, Error> {
        self.0.get("settings").await
    }
}

async fn check(answer: Answer, expected: Verdict) {
    scripted::check(answer, expected, classify, async |url| Settings::at(url).read().await).await;
}

#[tokio::test]
async fn answers() {
    for code in [408, 500, 502, 503, 504] {
        check(status(code, "{}"), BROKEN).await;
    }
    for code in [400, 401, 403, 404, 409, 410, 422, 501] {
        check(status(code, "{}"), Verdict::STOP).await;
    }
    let details = r#"{"retryAfterSeconds":2}"#;
    let hint = Duration::from_secs(2);
    check_rows! { check:
        [408, 500, 502, 503, 504] "not of Kubernetes" => BROKEN,
        status(425, "{}") => Verdict::TRANSIENT,
        status(429, "{}") => Verdict::THROTTLED,
        status(429, details) => Verdict::THROTTLED.after(hint),
        status(503, details) => Verdict::TRANSIENT.after(hint),
        status(500, details) => BROKEN.after(hint),
        status(409, details) => Verdict::STOP,
        closed() => BROKEN,
        cut() => BROKEN,
        [200] "no JSON" => Verdict::STOP,
        Answer::Absent => Verdict::TRANSIENT,
    }
}

impl Settings {
    /// Until the server ends it.
    #[retry(max = 3, jitter = "none", on = classify)]
    async fn watch(&self) -> Result<usize, Error> {
        let events = self.0.watch(&WatchParams::default(), "0").await?;
        events.try_fold(0, async |seen, _| Ok(seen + 1)).await
    }
}

#[tokio::test]
async fn a_watch_that_breaks() {
    let added = r#"{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"}}}"#;
    let expired = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"message":"too old"}}"#;
    let garbled = "HTTP/1.1 200 -\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n{";
    let garbled = Answer::Bytes(String::from(garbled));
    for (answer, expected) in [(broken_events(&[added]), BROKEN), (garbled, Verdict::STOP)] {
        let of_events = |error: &Error| {
            assert!(matches!(error, Error::ReadEvents(_)), "{error:?}");
            classify(error)
        };
        let watch = async |url: &str| Settings::at(url).watch().await;
        scripted::check(answer, expected, of_events, watch).await;
    }

    // A watch that ends well, and the errors that it reports, are events like any other.
    let server = Server::start([events(&[added, expired])]);
    assert_eq!(Settings::at(&server.url).watch().await.unwrap(), 2);
}

/// The effect that the setting prevents.
#[tokio::test]
async fn the_default_client_multiplies_requests() {
    let found = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings"}}"#;
    let answers = [status(503, "{}"), status(503, "{}"), answer(200, found)];
    let server = Server::start(answers);
    let config = Config::new(server.url.parse().unwrap());
    let recording = testing::record();
    Settings::with(config).read().await.unwrap();
    assert_eq!(server.requests(), 3);
    assert!(recording.delays().is_empty());
}
