//! A service's reservation for the call that it is ready for.

use std::fmt::Debug;
use std::io::ErrorKind;

use bytes::Bytes;
use futures_util::future::{FutureExt, join};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use retry_clients::ClientRetries;
use retry_clients::http::PeekedBody;
use retry_clients::tower::{GaveUp, RetryLayer};
use support::prelude::*;
use support::turns::Turns;
use tokio::time::sleep_until;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};

use super::scripted::{Answer, BoxError, Scripted, post, reserve};

type Answered = Response<PeekedBody<Full<Bytes>>>;

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::fixed(SECOND).jitter(Jitter::None);
/// When the service is ready that [`occupy`] kept busy.
const READY: Duration = Duration::from_millis(20_500);

/// Else it would have the service's only place, while a retry before it in the queue waits for that with its turn in
/// hand.
#[tokio::test(start_paused = true)]
async fn a_queued_call_does_not_reserve_the_service() {
    let limiter = Arc::new(ConcurrencyLimiter::aimd().start(1).most(1));
    let retries = ClientRetries::new(POLICY).limiter(Arc::clone(&limiter));
    let service = Scripted::new([Answer::Status(503, &[])]);
    let client = RetryLayer::new(retries).layer(ConcurrencyLimit::new(service.clone(), 1));
    let call = async |starts: u32| {
        sleep(starts * SECOND).await;
        client.clone().oneshot(post("")).await
    };
    let other = async {
        sleep(SECOND / 2).await;
        let mut place = HeldPermit::new(&*limiter);
        assert!(place.has_turn());
        sleep(5 * SECOND).await;
        place.succeeded();
    };
    // The retry waits from 1 s on, the other call from 2 s on.
    let calls = timeout(60 * SECOND, join(call(0), call(2)));
    let (calls, ()) = join(calls, other).await;
    let (first, second) = calls.expect("no deadlock");
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(service.starts(), [0.0, 5.5, 5.5]);
}

/// Takes the only place of a service from half a second on, for 20 seconds.
async fn occupy<S>(mut service: S)
where
    S: Service<Request<Full<Bytes>>, Error: Debug>,
{
    sleep(SECOND / 2).await;
    reserve(&mut service).await;
    sleep(20 * SECOND).await;
}

/// The retry would start after one second.
#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_the_service_no_longer_than_for_its_turn() {
    let refused = Ok(503);
    let once = POLICY.max(1);
    // When the call is cancelled, and when it ends, and how.
    let cases = [
        (once, None, 20.5, Ok(200), "succeeded"),
        (once.deadline(10 * SECOND), None, 10.0, refused, "reason=deadline"),
        (once, Some(5), 5.0, refused, "reason=cancelled"),
        // As soon as the time is up: no request is sent that would be late.
        (once.deadline(READY), None, 20.5, refused, "reason=deadline"),
        // The wait has the limit of an attempt.
        (once.timeout(3 * SECOND), None, 4.0, Err(()), "reason=exhausted"),
        (once.timeout(Duration::from_millis(19_500)), None, 20.5, Err(()), "reason=exhausted"),
        // From 1 s to 11 s in vain. What that retry was paid with pays for the next one.
        (POLICY.max(2).timeout(10 * SECOND), None, 20.5, Ok(200), "succeeded"),
    ];
    for (policy, cancel, ends, expected, line) in cases {
        let start = Instant::now();
        let budget = Arc::new(Turns::new(1));
        let limiter = Arc::new(ConcurrencyLimiter::aimd());
        let mut retries =
            ClientRetries::new(policy).budget(Arc::clone(&budget)).limiter(Arc::clone(&limiter));
        if let Some(seconds) = cancel {
            retries = retries.cancel(move || sleep_until(start + seconds * SECOND));
        }
        let service = Scripted::new([Answer::Status(503, &[])]);
        let one_place = ConcurrencyLimit::new(service.clone(), 1);
        let call = async {
            let client = RetryLayer::new(retries).layer(one_place.clone());
            let answer = client.oneshot(post("")).await;
            (answer, start.elapsed().as_secs_f64())
        };
        let recording = testing::record();
        // In this order: the service is ready when the call checks its deadline.
        let ((), (answer, ended)) = join(occupy(one_place.clone()), call).await;
        let answer = answer.map(|answer| answer.status().as_u16());
        assert_eq!((answer.map_err(drop), ended), (expected, ends), "{line}");
        let lines = recording.lines();
        assert!(lines.last().unwrap().contains(line), "{lines:?}");
        let (requests, left) = if expected == Ok(200) { (2, 0) } else { (1, 1) };
        assert_eq!(service.starts().len(), requests, "{line}");
        assert_eq!(budget.left(), left, "{line}");
        assert_eq!((limiter.running(), limiter.waiting()), (0, 0), "{line}");
    }
}

/// The fallback may need the limiter or the service itself, and take a long time.
#[tokio::test(start_paused = true)]
async fn a_fallback_starts_after_everything_is_released() {
    for is_cancelled in [false, true] {
        let start = Instant::now();
        let limiter = Arc::new(ConcurrencyLimiter::fixed(1));
        let policy = if is_cancelled { POLICY } else { POLICY.deadline(5 * SECOND) };
        let mut retries = ClientRetries::new(policy).limiter(Arc::clone(&limiter));
        if is_cancelled {
            retries = retries.cancel(move || sleep_until(start + 5 * SECOND));
        }
        let one_place = ConcurrencyLimit::new(Scripted::new([Answer::Status(503, &[])]), 1);
        let service = one_place.clone();
        let layer =
            RetryLayer::new(retries).fallback(move |_, gave_up: GaveUp<Answered, BoxError>| {
                let (running, service) = (limiter.running(), service.clone());
                Box::pin(async move {
                    assert_eq!((running, start.elapsed()), (0, 5 * SECOND));
                    sleep_until(start + READY + SECOND).await;
                    let mut service = service;
                    reserve(&mut service).now_or_never().expect("the service has room");
                    gave_up.outcome
                })
            });
        let call = layer.layer(one_place.clone()).oneshot(post(""));
        let (answer, ()) = join(call, occupy(one_place)).await;
        assert_eq!(answer.unwrap().status(), 503);
    }
}

/// A breaker is checked before any wait, even without a limiter.
#[tokio::test(start_paused = true)]
async fn a_retry_does_not_wait_for_the_service_while_the_breaker_is_open() {
    let start = Instant::now();
    let breaker = Arc::new(Breaker::new().consecutive_failures(1));
    let retries = ClientRetries::new(POLICY).breaker(breaker);
    let one_place = ConcurrencyLimit::new(Scripted::new([Answer::Status(503, &[])]), 1);
    let call = async {
        let client = RetryLayer::new(retries).layer(one_place.clone());
        let answer = client.oneshot(post("")).await.unwrap();
        assert_eq!(answer.status(), 503);
        assert_eq!(start.elapsed(), SECOND);
    };
    join(call, occupy(one_place.clone())).await;
}

/// Else what was sent just before the limit would be dropped at it.
#[tokio::test(start_paused = true)]
async fn a_request_has_the_whole_time_of_an_attempt_once_it_is_sent() {
    let start = Instant::now();
    let limit = 20 * SECOND;
    let service = Scripted::new([Answer::Status(503, &[]), Answer::Never]);
    let one_place = ConcurrencyLimit::new(service.clone(), 1);
    let client = RetryLayer::new(POLICY.timeout(limit).max(1)).layer(one_place.clone());
    let (answer, ()) = join(client.oneshot(post("")), occupy(one_place)).await;
    assert_eq!(answer.unwrap_err().downcast_ref(), Some(&TimedOut::new(limit)));
    assert_eq!(service.starts(), [0.0, 20.5]);
    assert_eq!(start.elapsed(), READY + limit);
}

/// It isn't evidence about the server. The pause ends after 13 seconds.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_not_ready_in_time_has_not_failed() {
    let breaker = Arc::new(Breaker::new().consecutive_failures(1));
    let limiter = Arc::new(ConcurrencyLimiter::aimd());
    let policy = Policy::fixed(10 * SECOND).jitter(Jitter::None);
    let retries = ClientRetries::new(policy.timeout(3 * SECOND))
        .idempotent(false)
        .breaker(Arc::clone(&breaker))
        .limiter(Arc::clone(&limiter));
    let service = Scripted::new([]);
    let mut one_place = ConcurrencyLimit::new(service.clone(), 1);
    let mut client = RetryLayer::new(retries).layer(one_place.clone());
    reserve(&mut client).await;
    let call = client.call(post("hello"));
    reserve(&mut one_place).await;
    let others = async {
        sleep(5 * SECOND).await;
        // The call's place in the service's queue isn't kept during its pause.
        let mut other = one_place.clone();
        drop(one_place);
        reserve(&mut other).now_or_never().unwrap();
        assert_eq!(Breaker::state(&breaker), BreakerState::Closed);
        assert_eq!((limiter.limit(), limiter.running()), (20, 0));
    };
    let (answer, ()) = join(call, others).await;
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(service.starts(), [13.0]);
    assert_eq!(service.received()[0].body, "hello");
}

/// The budget and the limiter record it, but nothing was sent: another attempt follows, and doesn't count it as sent.
#[tokio::test(start_paused = true)]
async fn a_service_that_fails_to_be_ready_has_failed() {
    // A failure with a hint is not ambiguous.
    let refused = Answer::Status(503, &[("retry-after", "1")]);
    let unready = Answer::Unready(ErrorKind::ConnectionReset);
    let service = Scripted::new([refused.clone(), unready, refused]);
    let budget = Arc::new(Turns::new(3));
    let limiter = Arc::new(ConcurrencyLimiter::aimd());
    let retries = ClientRetries::new(POLICY)
        .idempotent(false)
        .budget(Arc::clone(&budget))
        .limiter(Arc::clone(&limiter));
    let mut request = post("");
    let grpc = HeaderValue::from_static("application/grpc");
    request.headers_mut().insert(CONTENT_TYPE, grpc);
    let answer = service.under(retries).oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(service.starts(), [0.0, 2.0, 3.0]);
    // A tenth less after each of three failures.
    assert_eq!((budget.left(), limiter.limit()), (0, 14));
    let received = service.received();
    let previous = received.iter().map(|request| request.headers.get("grpc-previous-rpc-attempts"));
    let previous: Vec<_> = previous.map(|value| value.map(HeaderValue::as_bytes)).collect();
    assert_eq!(previous, [None, Some(&b"1"[..]), Some(b"2")]);
}

/// Nothing was sent, so the limiter refunds the attempt's cost.
#[tokio::test(start_paused = true)]
async fn a_turn_is_given_back_while_the_service_is_busy() {
    let limiter = Arc::new(RateLimiter::fixed(1, 60 * SECOND));
    let retries = ClientRetries::new(Policy::none()).limiter(Arc::clone(&limiter));
    let one_place = ConcurrencyLimit::new(Scripted::new([]), 1);
    let mut client = RetryLayer::new(retries).layer(one_place.clone());
    reserve(&mut client).await;
    let call = client.call(post(""));
    let mut busy = one_place;
    reserve(&mut busy).await;
    assert!(timeout(5 * SECOND, call).await.is_err());
    assert_eq!(limiter.available().to_string(), "1");
}

/// There is no call yet to retry.
#[tokio::test(start_paused = true)]
async fn a_first_wait_that_fails_is_not_retried() {
    let service = Scripted::new([Answer::Unready(ErrorKind::ConnectionReset)]);
    let layered = service.under(ClientRetries::new(POLICY));
    let error = layered.oneshot(post("")).await.unwrap_err();
    let error = error.downcast::<io::Error>().unwrap();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(service.received().is_empty());
}

/// The call waits, not the layer, and a service that is never ready fails the call.
#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_service_no_longer_than_ready_within() {
    let cases = [(0, 5_000, None), (1, 11_000, None), (2, 17_000, None), (5, 19_999, Some(200))];
    for (max, ends, status) in cases {
        let retries = ClientRetries::new(POLICY.max(max)).ready_within(5 * SECOND);
        let service = Scripted::new([Answer::Status(200, &[])]);
        let service = ConcurrencyLimit::new(service, 1);
        let holder = service.clone();
        let mut client = RetryLayer::new(retries).layer(service);
        let call = async {
            sleep(SECOND / 2).await;
            sleep(Duration::from_millis(1)).await;
            let began = Instant::now();
            let ready = ServiceExt::<Request<Full<Bytes>>>::ready(&mut client);
            let client = ready.now_or_never().expect("always ready").unwrap();
            let outcome: Result<Answered, BoxError> = client.call(post("")).await;
            (began.elapsed(), outcome)
        };
        let ((took, outcome), ()) = join(call, occupy(holder)).await;
        assert_eq!(took.as_millis(), ends, "{max}");
        match (outcome, status) {
            (Ok(answer), Some(status)) => assert_eq!(answer.status(), status),
            (Err(error), None) => assert!(error.is::<TimedOut>(), "{error}"),
            (outcome, _) => panic!("{max}: {outcome:?}"),
        }
    }
}
