//! Classification of HTTP statuses and headers.

use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::prelude::*;
use retry_runtime::{retry_after, server_time};
use support::prelude::*;
use support::sink::Sink;
use support::verdicts::BROKEN;

const YEAR: Duration = Duration::from_hours(365 * 24);
const MS: &str = "retry-after-ms";
const AFTER: &str = "retry-after";
const AMZ: &str = "x-amz-retry-after";
const SHOULD: &str = "x-should-retry";

type Pairs<'a> = &'a [(&'static str, &'a str)];

fn headers(pairs: Pairs) -> HeaderMap {
    let pairs = pairs.iter().map(|&(name, value)| {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        (HeaderName::from_static(name), value)
    });
    pairs.collect()
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap()
}

#[test]
fn every_status_has_the_verdict_of_the_table() {
    for code in 100..=999 {
        let expected = match code {
            501 | 505 | 510 => Verdict::STOP,
            // The server can't work, so a breaker doesn't count it as a success.
            507 | 508 | 511 | 525 | 526 => Verdict::TRANSIENT.once(),
            408 | 500..=599 => BROKEN,
            425 | 449 => Verdict::TRANSIENT,
            420 | 429 => Verdict::THROTTLED,
            _ => Verdict::STOP,
        };
        assert_eq!(status(code).classify(), expected, "{code}");
        let verdict = Verdict::from_http(status(code), &HeaderMap::new());
        assert_eq!(verdict, expected, "{code}");
    }
}

#[test]
fn the_first_usable_header_is_the_hint() {
    let table: &[(Pairs, Option<Duration>)] = &rows! {
        &[], None;
        &[(MS, "1.5")], Some(Duration::from_micros(1500));
        &[(AFTER, "0.25")], Some(millis(250));
        &[(AFTER, "0")], Some(millis(0));
        &[(AFTER, "  2\t")], Some(millis(2000));
        &[(AFTER, "31536000")], Some(YEAR);
        &[("x-ms-retry-after-ms", "1234")], Some(millis(1234));
        &[("x-rate-limit-retry-after-seconds", "3")], Some(millis(3000));
        // Durations in the formats of Go and ISO 8601.
        &[(AFTER, "2s")], Some(millis(2000));
        &[(AFTER, "1m0s")], Some(millis(60_000));
        &[(AFTER, "1h0m0.5s")], Some(millis(3_600_500));
        &[(AFTER, "PT1M")], Some(millis(60_000));
        &[(AFTER, "P1DT0.5S")], Some(millis(86_400_500));
        // The precedence doesn't depend on the order of the headers.
        &[(AMZ, "3000"), (AFTER, "2"), (MS, "1000")], Some(millis(1000));
        &[(AMZ, "3000"), (AFTER, "2")], Some(millis(2000));
        // A value that can't be used makes room for the next header, also for one of the same name.
        &[(MS, "soon"), (AFTER, "2")], Some(millis(2000));
        &[(MS, "-1"), (AFTER, "inf"), (AMZ, "3000")], Some(millis(3000));
        &[(AFTER, "soon"), (AFTER, "2")], Some(millis(2000));
        &[(MS, "NaN"), (AFTER, "Sun, 06 Nov 1994 08:49:37 GMT"), (AMZ, "7")], Some(millis(7));
    };
    for &(pairs, expected) in table {
        assert_eq!(retry_after(&headers(pairs)), expected, "{pairs:?}");
    }
}

#[test]
fn values_that_can_not_be_used_are_ignored() {
    let of_every_header = "| |soon|-1|-0.5|NaN|nan|inf|-inf|infinity|1e300|-1e300|1e999|\
        99999999999999999999999999|0x10|1_000|1,5|2 s|1 2|१|é";
    let of_retry_after = "31536001|1735689600|P1M|P|PT|1m0|Sun, 06 Nov 1994 08:49:37 GMT|\
        Fri, 31 Dec 9999 23:59:59 GMT|Fri, 32 Dec 9999 23:59:59 GMT|\
        Mon, 30 Feb 2032 00:00:00 GMT|Thu, 01 Jan 0000 00:00:00 GMT|Sun, 06 Nov 1994|\
        Sun, 06 Nov 1994 08:49:37 UTC|Sun, 06 Nov 1994 08:49:37 +0200|1994-11-06T08:49:37Z";
    for value in of_every_header.split('|') {
        for name in [MS, AFTER, AMZ] {
            let wait = retry_after(&headers(&[(name, value)]));
            assert_eq!(wait, None, "{name}: {value}");
        }
    }
    for value in of_retry_after.split('|') {
        assert_eq!(retry_after(&headers(&[(AFTER, value)])), None, "{value}");
    }
    for name in [MS, AMZ] {
        assert_eq!(retry_after(&headers(&[(name, "2s")])), None, "{name}");
    }
    assert_eq!(retry_after(&headers(&[(MS, "31536000001")])), None);
    assert_eq!(retry_after(&headers(&[(AMZ, "31536000001")])), None);
    assert_eq!(retry_after(&headers(&[(AMZ, "1.5")])), None);
}

#[test]
fn a_date_is_compared_with_the_servers_clock_or_ours() {
    let date = httpdate::fmt_http_date(SystemTime::now() + secs(100));
    let wait = retry_after(&headers(&[(AFTER, &date)])).unwrap();
    assert!((secs(90)..=secs(100)).contains(&wait), "{wait:?}");
    // By this machine's clock, these times are long past.
    let response = |date| {
        let asked = (AFTER, "Sun, 06 Nov 1994 08:50:07 GMT");
        headers(&[asked, ("date", date), (MS, "soon")])
    };
    let second = secs(1);
    let server = response("Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(retry_after(&server), Some(30 * second));
    assert_eq!(server_time(&server), UNIX_EPOCH + 784_111_777 * second);
    let verdict = Verdict::from_http(status(503), &server);
    assert_eq!(verdict, Verdict::TRANSIENT.after(30 * second));
    let server_in_old_format = response("Sunday, 06-Nov-94 08:49:37 GMT");
    assert_eq!(retry_after(&server_in_old_format), Some(30 * second));
    for date in [
        "Sun, 06 Nov 1994 08:50:07 UTC",
        "Sun, 06 Nov 1994 08:50:07 +0000",
        "1994-11-06T08:50:07Z",
        "1994-11-06T08:50:07+00:00",
    ] {
        let mut server = server.clone();
        server.insert(AFTER, HeaderValue::from_static(date));
        assert_eq!(retry_after(&server), Some(30 * second), "{date}");
    }
    // Past by the server's clock, too.
    let past = response("Sun, 06 Nov 1994 08:50:08 GMT");
    assert_eq!(retry_after(&past), None);
    // None that can be read: the machine's clock counts.
    assert_eq!(retry_after(&response("now")), None);
    assert!(server_time(&response("now")).elapsed().unwrap() < 60 * second);
}

#[test]
fn x_should_retry_wins_over_the_status() {
    for (value, codes, expected) in rows! {
        "true", &[404, 409][..], Verdict::TRANSIENT;
        "true", &[501, 599, 200, 408, 503], BROKEN;
        "true", &[429], Verdict::THROTTLED;
        "false", &[404, 501, 429], Verdict::STOP;
        "false", &[503], Verdict::TRANSIENT.once();
        "True", &[409], Verdict::TRANSIENT;
        " FALSE ", &[503], Verdict::TRANSIENT.once();
        "yes", &[404], Verdict::STOP;
        "no", &[503], BROKEN;
        "", &[429], Verdict::THROTTLED;
        "é", &[429], Verdict::THROTTLED;
    } {
        for &code in codes {
            let verdict = Verdict::from_http(status(code), &headers(&[(SHOULD, value)]));
            assert_eq!(verdict, expected, "{code}, {value}");
        }
    }
}

#[test]
fn a_retry_carries_the_hint_and_a_stop_does_not() {
    let hint = secs(2);
    for (codes, should, expected) in rows! {
        &[503, 425][..], None, Verdict::TRANSIENT.after(hint);
        &[429], None, Verdict::THROTTLED.after(hint);
        // Only for a 503, a wait means that the request was not processed.
        &[408, 500, 502, 504, 529], None, BROKEN.after(hint);
        &[404], None, Verdict::STOP;
        &[503, 404], Some("true"), Verdict::TRANSIENT.after(hint);
        &[429], Some("false"), Verdict::STOP;
    } {
        for &code in codes {
            let mut pairs = vec![(AFTER, "2")];
            pairs.extend(should.map(|should| (SHOULD, should)));
            let verdict = Verdict::from_http(status(code), &headers(&pairs));
            assert_eq!(verdict, expected, "{code}, {should:?}");
        }
    }
    // A server that asks to wait has not started to process the request, even if the wait can't be parsed.
    for value in ["soon", "Sun, 06 Nov 1994 08:49:37 GMT", "-1", "1e300"] {
        let asked = Verdict::from_http(status(503), &headers(&[(AFTER, value)]));
        assert_eq!(asked, Verdict::TRANSIENT, "{value}");
    }
    let failed = Verdict::from_http(status(500), &headers(&[(AFTER, "soon")]));
    assert_eq!(failed, BROKEN);
}

#[test]
fn an_unreadable_wait_is_logged() {
    let described = |pairs: Pairs| {
        let sink = Sink::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(sink.writer())
            .without_time()
            .with_ansi(false)
            .finish();
        let headers = headers(pairs);
        tracing::subscriber::with_default(subscriber, || {
            Verdict::from_http(status(503), &headers);
        });
        sink.text()
    };
    let why = "DEBUG retry::classify: ignored: no wait between zero and 365 days can be read from \
               this header header=\"retry-after\" value=soon\n";
    assert_eq!(described(&[(AFTER, "soon")]), why);
    assert_eq!(described(&[(AFTER, "soon"), (AMZ, "7")]), "");
    assert_eq!(described(&[]), "");
}

#[test]
fn pairs_and_responses_are_classified_by_both() {
    let expected = Verdict::THROTTLED.after(secs(2));
    let status = StatusCode::TOO_MANY_REQUESTS;
    let headers = headers(&[(AFTER, "2")]);
    assert_eq!((status, &headers).classify(), expected);

    let mut response = Response::new("body");
    *response.status_mut() = status;
    *response.headers_mut() = headers.clone();
    assert_eq!(response.classify(), expected);
    assert_eq!((status, headers).classify(), expected);
}

#[test]
fn used_up_limits_have_a_hint() {
    const DATE: (&str, &str) = ("date", "Sun, 01 Mar 2026 12:00:00 GMT");
    let table: &[(Pairs, Option<Duration>)] = &rows! {
        &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s")], Some(millis(360_000));
        &[("x-ratelimit-remaining-tokens", " 0 "), ("x-ratelimit-reset-tokens", "59.70s")], Some(millis(59_700));
        // The longest of them.
        &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "17ms"),
            ("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1s")], Some(millis(1000));
        // Something is left of the limit, or the limit isn't named.
        &[("x-ratelimit-remaining-requests", "59"), ("x-ratelimit-reset-requests", "1s")], None;
        &[("x-ratelimit-reset-requests", "1s")], None;
        &[DATE, ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-03-01T12:00:30Z")], Some(millis(30_000));
        &[DATE, ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-03-01T11:59:59Z")], Some(millis(0));
        &[("ratelimit-remaining", "0"), ("ratelimit-reset", "50")], Some(millis(50_000));
        // The size of a plain number decides if it means seconds, or seconds or milliseconds since 1970.
        &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "60")], Some(millis(60_000));
        &[DATE, ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1772366430")], Some(millis(30_000));
        &[DATE, ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1772366430000")], Some(millis(30_000));
        // Cerebras sends limits per minute and per day.
        &[("x-ratelimit-remaining-requests-day", "14399"), ("x-ratelimit-reset-requests-day", "33011.382867"),
            ("x-ratelimit-remaining-tokens-minute", "0"), ("x-ratelimit-reset-tokens-minute", "11.382867")],
            Some(Duration::from_micros(11_382_867));
        // For a subscription, the headers don't show how much of which limit is left.
        &[DATE, ("anthropic-ratelimit-unified-status", "rejected"),
            ("anthropic-ratelimit-unified-reset", "1772370000")], Some(millis(3_600_000));
        &[DATE, ("anthropic-ratelimit-unified-reset", "1772366430")], Some(millis(30_000));
        &[DATE, ("anthropic-ratelimit-unified-status", "allowed_warning"),
            ("anthropic-ratelimit-unified-reset", "1772370000")], None;
        // A wait that is asked for counts more.
        &[("retry-after", "2"), ("ratelimit-remaining", "0"), ("ratelimit-reset", "50")], Some(millis(2000));
        // None that can be used.
        &[("ratelimit-remaining", "0"), ("ratelimit-reset", "-1")], None;
        &[("ratelimit-remaining", "0"), ("ratelimit-reset", "99999999999")], None;
        &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "soon")], None;
    };
    for (pairs, expected) in table {
        let verdict = Verdict::from_http(status(429), &headers(pairs));
        assert_eq!(verdict.hint(), *expected, "{pairs:?}");
        // If the response isn't throttled, these headers have no meaning.
        let asked = retry_after(&headers(pairs));
        let unavailable = Verdict::from_http(status(503), &headers(pairs));
        assert_eq!(unavailable.hint(), asked, "{pairs:?}");
    }
}

/// Bytes that a header can hold, and texts that look like a wait.
fn value() -> impl Strategy<Value = HeaderValue> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[-+]?[0-9]{0,25}\\.?[0-9]{0,12}([eE][-+]?[0-9]{1,4})?".prop_map(String::into_bytes),
        any::<f64>().prop_map(|number| number.to_string().into_bytes()),
        "(Mon|Sun), [0-9]{2} (Feb|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
            .prop_map(String::into_bytes),
        "(Monday|Sunday), [0-9]{2}-(Feb|Dec)-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT"
            .prop_map(String::into_bytes),
    ];
    let value = |bytes: Vec<u8>| HeaderValue::from_bytes(&bytes).ok();
    bytes.prop_filter_map("not a header's value", value)
}

proptest! {
    #[test]
    fn no_header_panics_and_no_wait_is_above_a_year(
        code in 100_u16..=999,
        pairs in prop::collection::vec((prop::sample::select(vec![MS, AFTER, AMZ, SHOULD]), value()), 0..6),
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        let wait = retry_after(&headers);
        prop_assert!(wait.is_none_or(|wait| wait <= YEAR), "{wait:?}");

        let hint = Verdict::from_http(status(code), &headers).hint();
        prop_assert!(hint.is_none_or(|hint| hint <= YEAR), "{hint:?}");
    }

    #[test]
    fn whole_seconds_and_milliseconds_are_exact(seconds in 0..=31_536_000_u64) {
        let text = seconds.to_string();
        prop_assert_eq!(retry_after(&headers(&[(AFTER, &text)])), Some(secs(seconds)));
        prop_assert_eq!(retry_after(&headers(&[(MS, &text)])), Some(millis(seconds)));
        prop_assert_eq!(retry_after(&headers(&[(AMZ, &text)])), Some(millis(seconds)));
    }
}
