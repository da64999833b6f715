//! tonic 0.14 against a real server on loopback: the classification of each status, and the number of attempts.

use std::time::Instant;

use retry_runtime::on;
use service::{Backend, endpoint, send};
use support::loopback::{self, Server, attempts, closed_port};
use support::prelude::*;
use support::verdicts::BROKEN;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, QuotaViolation, StatusExt};

pub(crate) mod service;

#[retry(max = 2, backoff = "none")]
async fn call(channel: &Channel) -> Result<(), Status> {
    send(channel, None).await
}

#[retry(max = 2, backoff = "none", on = on::transaction)]
async fn transaction(channel: &Channel) -> Result<(), Status> {
    send(channel, None).await
}

/// Returns boxed errors.
#[retry(max = 2, backoff = "none")]
async fn boxed(channel: &Channel) -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(send(channel, None).await?)
}

async fn check(channel: &Channel, expected: Verdict) -> Status {
    loopback::check(expected, Status::classify, async || send(channel, None).await).await
}

/// The verdict on a status that a server sends, and that it leads to as many calls.
async fn check_sent(status: impl Fn() -> Status + Send + Sync + 'static, expected: Verdict) {
    let backend = Backend::failing(status);
    let channel = endpoint(backend.address).connect_lazy();
    check(&channel, expected).await;
    let (idempotent, not) = attempts(expected);
    assert_eq!(backend.calls(), idempotent + not);

    let error = boxed(&channel).await.unwrap_err();
    assert_eq!(error.classify(), expected, "{error:?}");
    assert_eq!(backend.calls(), 2 * idempotent + not);
}

fn metadata(pushback: &'static str) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    metadata.insert("grpc-retry-pushback-ms", pushback.parse().unwrap());
    metadata
}

fn exhausted(details: ErrorDetails) -> Status {
    Status::with_error_details(Code::ResourceExhausted, "slow down", details)
}

fn retry_info(milliseconds: u64) -> ErrorDetails {
    ErrorDetails::with_retry_info(Some(Duration::from_millis(milliseconds)))
}

#[tokio::test]
async fn every_code_has_the_verdict_of_the_table() {
    for number in 1..=16 {
        let code = Code::from(number);
        let expected = match code {
            // It is unknown if the server received the request.
            Code::Unavailable => BROKEN,
            Code::DeadlineExceeded => Verdict::TIMEOUT,
            Code::ResourceExhausted => Verdict::THROTTLED,
            _ => Verdict::STOP,
        };
        check_sent(move || Status::new(code, "no"), expected).await;
    }
}

#[tokio::test]
async fn resource_exhausted_is_throttled_unless_the_text_names_a_long_limit() {
    check_sent(|| exhausted(ErrorDetails::new()), Verdict::THROTTLED).await;
    let hint = Duration::from_millis(2);
    check_sent(|| exhausted(retry_info(2)), Verdict::THROTTLED.after(hint)).await;
    let no_wait = || exhausted(ErrorDetails::with_retry_info(None));
    check_sent(no_wait, Verdict::THROTTLED).await;
    let absurd = || exhausted(retry_info(u64::MAX));
    check_sent(absurd, Verdict::THROTTLED).await;
    let garbled = || Status::with_details(Code::ResourceExhausted, "no", vec![0xff; 9].into());
    check_sent(garbled, Verdict::THROTTLED).await;
    let until_reset = || {
        let metadata = [("quotaResetDelay".to_owned(), "0.002s".to_owned())];
        exhausted(ErrorDetails::with_error_info("RATE_LIMIT_EXCEEDED", "googleapis.com", metadata))
    };
    check_sent(until_reset, Verdict::THROTTLED.after(hint)).await;

    let throttled = Verdict::THROTTLED;
    for (message, expected) in [
        ("Resource exhausted. Please try again later.", throttled),
        ("Quota exceeded for …/generate_content_requests_per_minute_per_project", throttled),
        ("You exceeded your current quota. Please retry in 2ms.", throttled.after(hint)),
        ("Quota exceeded for …/requests_per_day", Verdict::STOP),
        ("free_tier_requests, limit: 0. Please retry in 34.07s.", Verdict::STOP),
        ("grpc: received message larger than max (5 vs. 4)", Verdict::STOP),
        ("gRPC message exceeds maximum size 4: 5", Verdict::STOP),
        ("received trailing metadata size exceeds hard limit (5 vs. 4)", Verdict::STOP),
        ("etcdserver: mvcc: database space exceeded", Verdict::STOP),
        ("etcdserver: too many requests", throttled),
    ] {
        check_sent(move || Status::resource_exhausted(message), expected).await;
    }
}

/// The texts of java-spanner's `IsRetryableInternalError`, in the words of gRPC in C++, Go and Java.
#[tokio::test]
async fn an_internal_error_may_quote_a_connection_that_broke() {
    for message in [
        "HTTP/2 error code: INTERNAL_ERROR\nReceived Rst Stream",
        "RST_STREAM closed stream. HTTP/2 error code: PROTOCOL_ERROR",
        "stream terminated by RST_STREAM with error code: NO_ERROR",
        "Received RST_STREAM with error code 2",
        "Connection closed with unknown cause",
        "Received unexpected EOS on DATA frame from server",
    ] {
        check_sent(move || Status::internal(message), BROKEN).await;
        check_sent(move || Status::unknown(message), Verdict::STOP).await;
    }
    for message in ["", "boom", "rust stream", "end of stream"] {
        check_sent(move || Status::internal(message), Verdict::STOP).await;
    }
}

/// As a proxy hands on the text of a client behind it, without its source.
#[tokio::test]
async fn a_text_may_report_a_broken_connection() {
    for message in [
        "transport error",
        "h2 protocol error: http2 error",
        "no healthy upstream",
        "Stream removed",
        "error reading from server: read tcp 10.0.0.1:5: connection reset by peer",
    ] {
        check_sent(move || Status::internal(message), BROKEN).await;
        check_sent(move || Status::unknown(message), BROKEN).await;
        check_sent(move || Status::not_found(message), Verdict::STOP).await;
    }
    for message in [
        "Authentication backend unknown error.",
        "the table 'transport error' does not exist",
        "task panicked",
    ] {
        check_sent(move || Status::internal(message), Verdict::STOP).await;
        check_sent(move || Status::unknown(message), Verdict::STOP).await;
    }
}

/// In the words of tonic and grpc-go, of grpc-java, and of gRPC in C++.
#[tokio::test]
async fn an_answer_without_a_status_of_grpc_is_classified_by_its_own() {
    for (status, expected) in [
        (500, BROKEN),
        (524, BROKEN),
        (408, BROKEN),
        (425, Verdict::TRANSIENT),
        (429, Verdict::THROTTLED),
        (400, Verdict::STOP),
        (501, Verdict::STOP),
        (507, Verdict::TRANSIENT.once()),
    ] {
        for message in [
            format!("grpc-status header missing, mapped from HTTP status code {status}"),
            format!("unexpected HTTP status code received from server: {status} (text)"),
            format!("HTTP status code {status}\ninvalid content-type: text/html"),
            format!("Received http2 header with status: {status}"),
        ] {
            check_sent(move || Status::unknown(message.clone()), expected).await;
        }
    }
    let unfinished = || Status::unknown("mapped from HTTP status code");
    check_sent(unfinished, Verdict::STOP).await;
}

#[tokio::test]
async fn a_daily_quota_stops_with_any_wait() {
    let of = |quota_id: &'static str| {
        move || {
            let mut details = retry_info(2);
            details.set_quota_failure(vec![QuotaViolation {
                quota_id: quota_id.into(),
                ..QuotaViolation::new("project", "exceeded")
            }]);
            exhausted(details)
        }
    };
    let throttled = Verdict::THROTTLED.after(Duration::from_millis(2));
    check_sent(of("GenerateRequestsPerDayPerProject"), Verdict::STOP).await;
    let per_minute = of("GenerateRequestsPerMinutePerProject");
    check_sent(per_minute, throttled).await;
    for (key, value, expected) in [
        ("quota_limit", "RequestsPerDayPerProject", Verdict::STOP),
        ("quota_limit", "RequestsPerMinutePerProject", throttled),
        ("quota_limit_value", "0", Verdict::STOP),
        ("quota_limit_value", "60", throttled),
    ] {
        let of_service = move || {
            let mut details = retry_info(2);
            let metadata = [(key.to_owned(), value.to_owned())];
            details.set_error_info("RATE_LIMIT_EXCEEDED", "googleapis.com", metadata);
            exhausted(details)
        };
        check_sent(of_service, expected).await;
    }
}

#[tokio::test]
async fn a_hint_is_waited_for() {
    let backend = Backend::start(None, |number| {
        Some(match number {
            1 => Err(exhausted(retry_info(60))),
            2 => Err(Status::with_metadata(Code::Unavailable, "", metadata("40"))),
            _ => Ok(()),
        })
    });
    let channel = endpoint(backend.address).connect_lazy();
    let start = Instant::now();
    call(&channel).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert_eq!(backend.calls(), 3);
}

#[tokio::test]
async fn pushback_sets_the_hint_or_stops() {
    let table = [
        ("0", BROKEN.after(Duration::ZERO)),
        ("3", BROKEN.after(Duration::from_millis(3))),
        ("-1", Verdict::STOP),
        ("soon", Verdict::STOP),
        ("", Verdict::STOP),
        ("99999999999999999999", Verdict::STOP),
        ("9999999999999", Verdict::STOP),
    ];
    for (value, expected) in table {
        let status = move || Status::with_metadata(Code::Unavailable, "", metadata(value));
        check_sent(status, expected).await;
    }
    let of = |code| move || Status::with_metadata(code, "", metadata("3"));
    let hint = Duration::from_millis(3);
    check_sent(of(Code::ResourceExhausted), Verdict::THROTTLED.after(hint)).await;
    check_sent(of(Code::InvalidArgument), Verdict::STOP).await;

    let over_retry_info = || {
        let details = retry_info(2000);
        let pushback = metadata("3");
        Status::with_error_details_and_metadata(Code::ResourceExhausted, "", details, pushback)
    };
    check_sent(over_retry_info, Verdict::THROTTLED.after(hint)).await;
}

#[tokio::test]
async fn timeouts_of_the_client_of_the_server_and_of_a_request_are_timeouts() {
    let patience = Duration::from_millis(100);
    let stalling = Backend::start(None, |_| None);
    let channel = endpoint(stalling.address).timeout(patience).connect_lazy();
    check(&channel, Verdict::TIMEOUT).await;
    assert_eq!(stalling.calls(), 4);

    let impatient = Backend::start(Some(patience), |_| None);
    let channel = endpoint(impatient.address).connect_lazy();
    check(&channel, Verdict::TIMEOUT).await;
    assert_eq!(impatient.calls(), 4);

    let channel = endpoint(stalling.address).connect_lazy();
    let status = send(&channel, Some(patience)).await.unwrap_err();
    assert_eq!(status.classify(), Verdict::TIMEOUT, "{status:?}");
}

#[tokio::test]
async fn aborted_is_retried_around_a_whole_transaction_only() {
    let backend = Backend::start(None, |number| {
        Some(match number {
            1 => Err(Status::aborted("conflict")),
            _ => Ok(()),
        })
    });
    let channel = endpoint(backend.address).connect_lazy();
    transaction(&channel).await.unwrap();
    assert_eq!(backend.calls(), 2);

    let invalid = Backend::failing(|| Status::invalid_argument("no"));
    let channel = endpoint(invalid.address).connect_lazy();
    transaction(&channel).await.unwrap_err();
    assert_eq!(invalid.calls(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_or_does_not_respond_to_pings_is_ambiguous() {
    // HTTP/2 starts correctly, and ends after the request's frames.
    let server = Server::start(async |mut stream| {
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
        stream.read_exact(&mut [0; 60]).await.map(drop)
    });
    let channel = endpoint(server.address).connect_lazy();
    check(&channel, BROKEN).await;

    let server = Server::start(async |mut stream| {
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
        pending().await
    });
    let patience = Duration::from_millis(50);
    let endpoint = endpoint(server.address).http2_keep_alive_interval(patience);
    let channel = endpoint.keep_alive_timeout(patience).connect_lazy();
    let status = check(&channel, BROKEN).await;
    assert_eq!(status.code(), Code::Unavailable);
}

#[tokio::test]
async fn connecting_is_classified_by_its_cause() {
    let channel = endpoint(closed_port()).connect_lazy();
    let status = check(&channel, Verdict::TRANSIENT).await;
    assert_eq!(status.code(), Code::Unavailable);

    // The error of connecting at once is of another type.
    for (url, expected) in [
        (format!("http://{}/", closed_port()), Verdict::TRANSIENT),
        (String::from("http://no-such-host.invalid/"), Verdict::TRANSIENT),
        (String::from("no address"), Verdict::STOP),
    ] {
        let connect = async || Endpoint::new(url.clone())?.connect().await;
        let error = loopback::check(expected, tonic::transport::Error::classify, connect).await;
        assert_eq!(on::cause(&error), expected, "{error:?}");
    }
}
