//! Requests of any `Clone` type, over a service whose error type is kept.

use futures_util::future::join_all;
use retry_clients::tower::{ByClone, GaveUp, Retry, RetryLayer};
use support::prelude::*;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, ServiceExt, service_fn};

use super::plain::{Fault, Outcome, Plain};

/// 1 s, 2 s, 4 s.
const POLICY: Policy = Policy::new().jitter(Jitter::None);

fn busy(outcome: Result<&&str, &Fault>) -> Option<Verdict> {
    match outcome {
        Ok(&"busy") => Some(Verdict::TRANSIENT),
        Ok(_) => None,
        Err(Fault("ambiguous")) => Some(Verdict::TRANSIENT.ambiguous()),
        Err(Fault(text)) => Some(Verdict::from(text.starts_with("busy"))),
    }
}

fn layer() -> RetryLayer<ByClone<&'static str, Fault>> {
    RetryLayer::cloning(POLICY, busy)
}

async fn send<By, H>(layer: RetryLayer<By, H>, service: &Plain) -> Outcome
where
    RetryLayer<By, H>: Layer<Plain, Service = Retry<Plain, By, H>>,
    Retry<Plain, By, H>: tower::Service<String, Response = &'static str, Error = Fault>,
{
    layer.layer(service.clone()).oneshot(String::from("ask")).await
}

#[tokio::test(start_paused = true)]
async fn answers_and_errors_are_judged_by_their_types() {
    static BUDGET: Budget = Budget::standard();
    let cases: [(Outcome, RetryLayer<_, _>, usize, &str); 5] = [
        (Ok("busy"), layer(), 2, "response rejected reason=transient"),
        (Err(Fault("busy")), layer().budget(&BUDGET), 2, "busy reason=transient"),
        (Err(Fault("gone")), layer(), 1, "gone reason=not retryable"),
        (Err(Fault("ambiguous")), layer(), 2, "ambiguous reason=transient"),
        (Err(Fault("ambiguous")), layer().idempotent(false), 1, "ambiguous reason=ambiguous"),
    ];
    for (outcome, layer, attempts, line) in cases {
        let recording = testing::record();
        let service = Plain::new([outcome]);
        let answered = send(layer, &service).await.is_ok();
        assert_eq!(answered, attempts == 2, "{line}");
        assert_eq!(service.requests(), vec!["ask"; attempts], "{line}");
        let lines = recording.lines();
        assert!(lines[0].contains(" request attempt=1 "), "{lines:?}");
        assert!(lines[0].ends_with(line), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_service_are_retried_separately() {
    let service = Plain::failing(["busy"; 5]);
    let retry = layer().layer(service.clone());
    let calls = (0..5).map(|number| retry.clone().oneshot(number.to_string()));
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(service.starts(), [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000]);

    // Events have the time since their own call. An attempt that starts without a slot would panic.
    let elapsed = Arc::new(Mutex::new(Vec::new()));
    let observed = Arc::clone(&elapsed);
    let observing = layer().observe(move |event| observed.lock().unwrap().push(event.elapsed()));
    let retry = observing.layer(ConcurrencyLimit::new(Plain::failing(["busy"]), 1));
    for _ in 0..2 {
        assert_eq!(retry.clone().oneshot(String::new()).await, Ok("hello"));
    }
    let expected = [0, 0, 1, 1, 0, 0].map(|secs| Some(Duration::from_secs(secs)));
    assert_eq!(*elapsed.lock().unwrap(), expected);
}

/// Even a non-retryable one.
#[tokio::test(start_paused = true)]
async fn a_rejected_response_is_not_a_success() {
    let rejected = |outcome: Result<&&str, &Fault>| outcome.ok().map(|_| Verdict::STOP);
    let layer = || RetryLayer::cloning(POLICY, rejected);
    let events = Arc::new(Mutex::new(Vec::new()));
    let observed = Arc::clone(&events);
    let observe = move |event: &Event<'_>| observed.lock().unwrap().push(event.to_string());
    let service = Plain::new([]);
    assert_eq!(send(layer().observe(observe), &service).await, Ok("hello"));
    let last = "gave up request attempt=1 max=3 error=response rejected reason=not retryable";
    assert_eq!(events.lock().unwrap().last().unwrap(), last);

    let layer = layer().fallback(|_, gave_up: GaveUp<&'static str, Fault>| {
        assert_eq!(gave_up.reason, Reason::NotRetryable);
        Box::pin(async { Ok("cached") })
    });
    assert_eq!(send(layer, &service).await, Ok("cached"));
}

/// Protections can end a call if the service's error can represent that.
#[tokio::test(start_paused = true)]
async fn a_breaker_and_a_timeout_need_conversions_of_the_error() {
    #[derive(Debug, PartialEq, thiserror::Error)]
    enum Failed {
        #[error(transparent)]
        Rejected(#[from] Rejected),
        #[error(transparent)]
        TimedOut(#[from] TimedOut),
    }
    const LIMIT: Duration = Duration::from_secs(5);
    let on = |outcome: Result<&(), &Failed>| outcome.err().map(|_| Verdict::TRANSIENT);
    let policy = POLICY.timeout(LIMIT).max(1);
    let never = service_fn(async |(): ()| pending::<Result<(), Failed>>().await);

    let timed = RetryLayer::cloning(policy, on).policy_timeout();
    let service = timed.breaker(Breaker::new().consecutive_failures(2)).layer(never);
    let began = Instant::now();
    let failed = service.clone().oneshot(()).await;
    assert_eq!(failed, Err(Failed::TimedOut(TimedOut::new(LIMIT))));
    assert_eq!(began.elapsed(), 2 * LIMIT + Duration::from_secs(1));
    let rejected = Rejected::new(RejectedBy::Breaker);
    assert_eq!(service.oneshot(()).await, Err(Failed::Rejected(rejected)));

    // Attempts at 0–5 and 6–8 s.
    let policy = policy.total_timeout(Duration::from_secs(8));
    let service = RetryLayer::cloning(policy, on).policy_timeout().layer(never);
    let began = Instant::now();
    let timed_out = TimedOut::new(Duration::from_secs(2));
    assert_eq!(service.oneshot(()).await, Err(Failed::TimedOut(timed_out)));
    assert_eq!(began.elapsed(), Duration::from_secs(8));

    let recording = testing::record();
    let plain = RetryLayer::cloning(policy, busy).name("call").layer(Plain::new([]));
    assert_eq!(plain.oneshot(String::new()).await, Ok("hello"));
    assert!(
        recording.lines()[0].starts_with("ignoring the policy's timeout call"),
        "{recording:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn hooks_change_the_request_at_their_time() {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let (paused, resumed) = (Arc::clone(&recorded), Arc::clone(&recorded));
    let service = Plain::new([Err(Fault("busy")), Ok("busy")]);
    let began = Instant::now();
    let layer = layer()
        .before_pause(move |request: &mut String, outcome: Result<&&str, &Fault>, next| {
            request.push('1');
            let line = format!("{outcome:?} {} {:?}", next.number(), next.pause());
            paused.lock().unwrap().push((began.elapsed().as_secs(), line));
            Box::pin(async { Ok(()) })
        })
        .before_retry(move |request: &mut String, outcome: Result<&&str, &Fault>, _| {
            resumed.lock().unwrap().push((began.elapsed().as_secs(), format!("{outcome:?}")));
            Box::pin(async {
                sleep(Duration::from_secs(10)).await;
                request.push('2');
                Ok(())
            })
        });
    assert_eq!(send(layer, &service).await, Ok("hello"));
    assert_eq!(service.requests(), ["ask", "ask12", "ask1212"]);
    assert_eq!(service.starts(), [0, 11_000, 23_000]);
    let recorded = recorded.lock().unwrap();
    let recorded: Vec<_> = recorded.iter().map(|(after, line)| (*after, &**line)).collect();
    let expected = [
        (0, "Err(Fault(\"busy\")) 2 1s"),
        (1, "Err(Fault(\"busy\"))"),
        (11, "Ok(\"busy\") 3 2s"),
        (13, "Ok(\"busy\")"),
    ];
    assert_eq!(recorded, expected);
}

/// The outcome that gave up, and its replacement.
#[tokio::test(start_paused = true)]
async fn a_fallback_replaces_the_outcome() {
    let cases: [(&[&'static str], &str, &[&str]); 5] = [
        (&[], "none", &[]),
        (
            &["gone"],
            "Err(Fault(\"gone\")) 1 not retryable",
            &["falling back request attempt=1 max=3 error=gone reason=not retryable", "fell back"],
        ),
        (
            &["busy", "gone"],
            "Err(Fault(\"gone\")) 2 not retryable",
            &["retrying", "falling back", "fell back request attempt=2 max=3"],
        ),
        (
            &["busy", "busy", "busy", "busy"],
            "Err(Fault(\"busy\")) 4 exhausted",
            &["retrying", "retrying", "retrying", "falling back", "fell back"],
        ),
        (
            &["busy 1"],
            "Err(Fault(\"busy 1\")) 1 hook failed",
            &["retrying", "falling back request attempt=1 max=3 error=busy 1; no token", "fell"],
        ),
    ];
    for (faults, expected, lines) in cases {
        let recorded = Arc::new(Mutex::new(String::from("none")));
        let record = Arc::clone(&recorded);
        let layer = layer().before_retry(|_: &mut String, outcome: Result<&&str, &Fault>, _| {
            let is_refused = outcome == Err(&Fault("busy 1"));
            Box::pin(async move { if is_refused { Err("no token".into()) } else { Ok(()) } })
        });
        let layer = layer.fallback(move |_, gave_up: GaveUp<&'static str, Fault>| {
            let GaveUp { outcome, attempts, reason, .. } = gave_up;
            *record.lock().unwrap() = format!("{outcome:?} {attempts} {reason}");
            Box::pin(async { Ok("cached") })
        });
        let recording = testing::record();
        let outcome = send(layer, &Plain::failing(faults.iter().copied())).await;
        assert_eq!(outcome, Ok(if faults.is_empty() { "hello" } else { "cached" }));
        assert_eq!(*recorded.lock().unwrap(), expected);
        assert_eq!(recording.lines().len(), lines.len(), "{recording:?}");
        for (line, expected) in recording.lines().iter().zip(lines) {
            assert!(line.starts_with(expected), "{recording:?}");
        }
    }
}

/// Its connection is free for others during the pause.
#[tokio::test(start_paused = true)]
async fn a_response_that_no_hook_needs_is_not_kept() {
    let answer = Arc::new(());
    let answers = Arc::clone(&answer);
    let service = service_fn(move |(): ()| ready(Ok::<_, &str>(Arc::clone(&answers))));
    let layer = RetryLayer::cloning(POLICY, |_| Some(Verdict::TRANSIENT))
        .fallback(|_, gave_up: GaveUp<Arc<()>, &str>| Box::pin(ready(gave_up.outcome)));
    let call = layer.layer(service).oneshot(());
    let paused = timeout(Duration::from_millis(500), tokio::spawn(call));
    assert!(paused.await.is_err());
    assert_eq!(Arc::strong_count(&answer), 2);
}

/// A type that can be used in a client's field, with any closures.
#[tokio::test]
async fn the_layered_service_has_a_name() {
    struct Client(Retry<Plain, ByClone<&'static str, Fault>>);
    let client = Client(layer().layer(Plain::new([])));
    assert_eq!(client.0.oneshot(String::new()).await, Ok("hello"));
}

/// The breaker rejects the retry. The rejection would be retried, but `before_retry` has cancelled the call.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_retry_a_rejection() {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    let on = |outcome: Result<&(), &Failure>| outcome.err().map(|error| error.0);
    let policy = POLICY.rejected(Section::new().max(9));
    let layer = RetryLayer::cloning(policy, on)
        .breaker(Breaker::new().consecutive_failures(1))
        .cancel(move || token.clone().cancelled_owned())
        .before_retry(move |(): &mut (), _: Result<&(), &Failure>, _| {
            cancelled.cancel();
            Box::pin(async { Ok(()) })
        });
    let recording = testing::record();
    let fails = service_fn(async |()| Err::<(), _>(TRANSIENT));
    assert_eq!(layer.layer(fails).oneshot(()).await, Err(TRANSIENT));
    let retries = recording.delays();
    assert_eq!(retries, [Duration::from_secs(1)]);
    assert_eq!(recording.reasons(), [Reason::Cancelled]);
}
