//! The core: a call's state, driven by hand.

use retry_runtime::own_loop::{Call, Failure, Site};
use retry_runtime::seam::Moment;
use support::prelude::*;
use support::turns::Turns;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

fn busy<'a>(site: &'a Site<'a>) -> Failure<'a> {
    Failure::new(site, Verdict::TRANSIENT, &"busy")
}

/// The call as another process loads it.
fn reloaded(call: &Call) -> Call {
    serde_json::from_str(&serde_json::to_string(call).unwrap()).unwrap()
}

fn is_plain_data<T: Copy + Send + Sync + 'static>() {}

#[test]
fn a_call_is_small_and_borrows_nothing() {
    is_plain_data::<Call>();
    assert!(size_of::<Call>() <= 72, "{}", size_of::<Call>());
}

#[test]
fn attempts_and_corrections_are_counted() {
    let site = Site::new(&EXACT, "draft");
    let recording = testing::record();
    let mut call = Call::new();
    let counts = |call: &Call| (call.attempt(), call.corrections(), call.is_retried());
    assert_eq!(counts(&call), (1, 0, false));
    // A success at once is not logged.
    call.succeeded(&site);
    let rejected = Failure::new(&site, Verdict::INVALID, &"no title").correctable();
    assert_eq!(call.failed_with(rejected), Ok(Duration::ZERO));
    assert_eq!(counts(&call), (1, 1, true));
    call.failed(&site, Verdict::TRANSIENT, &"busy").unwrap();
    assert_eq!(counts(&call), (2, 1, true));
    assert_eq!(call.last_delay(), secs(1));
    call.succeeded(&site);
    let lines = recording.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[2], "succeeded draft attempt=2 corrections=1 max=3");
}

#[test]
fn only_pauses_count_against_a_deadline_without_elapsed_times() {
    let policy = EXACT.max(9).deadline(secs(7));
    let site = Site::new(&policy, "call");
    let mut call = Call::new();
    let mut pauses = Vec::new();
    let reason = loop {
        match call.failed(&site, Verdict::TRANSIENT, &"busy") {
            Ok(pause) => pauses.push(pause),
            Err(reason) => break reason,
        }
    };
    let expected = (vec![secs(1), secs(2), secs(4)], Reason::Deadline);
    assert_eq!((pauses, reason), expected);
    // Up to the last failure, after pauses of 1, 2 and 4 s.
    assert_eq!(call.spent(), secs(7));
}

/// The time spent before it was loaded counts, too.
#[test]
fn progress_restarts_the_count_until_the_deadline() {
    let policy = EXACT.max(1).deadline(secs(10));
    let site = Site::new(&policy, "call");
    let loaded: Call = serde_json::from_str(r#"{"retries": 0, "spent_ns": 2000000000}"#).unwrap();

    let mut call = loaded;
    let decisions: Vec<_> = std::iter::repeat_with(|| {
        let decision = call.failed_with(busy(&site));
        call = call.restarted(secs(60));
        decision
    })
    .take(9)
    .collect();
    let (last, retried) = decisions.split_last().unwrap();
    assert_eq!(retried, [Ok(secs(1)); 8]);
    assert_eq!(*last, Err(Reason::Deadline));
    let expected = (1, Duration::ZERO, secs(10));
    assert_eq!((call.attempt(), call.last_delay(), call.spent()), expected);

    let mut call = loaded;
    assert_eq!(call.failed_with(busy(&site).elapsed(secs(3))), Ok(secs(1)));
    let mut call = call.restarted(secs(60));
    assert_eq!(call.failed_with(busy(&site).elapsed(secs(7))), Ok(secs(1)));
    assert_eq!(call.spent(), secs(9));
}

#[test]
fn reported_elapsed_times_count_against_a_deadline() {
    let policy = EXACT.deadline(secs(10));
    let site = Site::new(&policy, "call");
    for (elapsed, decision) in [
        (secs(9), Ok(secs(1))),
        (secs(9) + Duration::from_nanos(1), Err(Reason::Deadline)),
        (secs(11), Err(Reason::Deadline)),
    ] {
        let failure = busy(&site).elapsed(elapsed);
        assert_eq!(Call::new().failed_with(failure), decision, "{elapsed:?}");
    }
    // A clock that runs backwards gives no time back.
    let mut call = Call::new();
    let at = |elapsed| busy(&site).elapsed(elapsed);
    assert_eq!(call.failed_with(at(secs(8))), Ok(secs(1)));
    assert_eq!(call.failed_with(at(secs(2))), Ok(secs(2)));
    assert_eq!(call.spent(), secs(8));
    assert_eq!(call.failed_with(at(secs(2))), Err(Reason::Deadline));
}

#[test]
fn a_pause_that_took_too_long_ends_the_call() {
    let policy = EXACT.deadline(secs(10));
    let site = Site::new(&policy, "call");
    let failure = |elapsed| busy(&site).elapsed(elapsed);
    let recording = testing::record();
    let mut call = Call::new();
    assert_eq!(call.failed_with(failure(secs(2))), Ok(secs(1)));
    assert_eq!(call.resumed(failure(secs(10))), Ok(()));
    assert_eq!(call.resumed(failure(secs(3600))), Err(Reason::Deadline));
    let expected = [
        "retrying call attempt=1 max=3 delay=1s error=busy reason=transient",
        "gave up call attempt=1 max=3 error=busy reason=deadline",
    ];
    assert_eq!(recording.lines(), expected);
    // A pause may end a little late, as timers do.
    let mut call = Call::new();
    let hint = Verdict::THROTTLED.after(secs(10));
    assert_eq!(call.failed(&site, hint, &"busy"), Ok(secs(10)));
    let at = |elapsed| Failure::new(&site, hint, &"busy").elapsed(elapsed);
    assert_eq!(call.resumed(at(secs(11))), Ok(()));
    let late = secs(11) + Duration::from_nanos(1);
    assert_eq!(call.resumed(at(late)), Err(Reason::Deadline));
}

#[test]
fn an_observer_sees_what_the_log_does_and_each_start() {
    let site = Site::new(&EXACT, "call");
    let mut lines = Vec::new();
    let mut observe = |event: &Event<'_>| lines.push(event.to_string());
    let mut call = Call::new();
    call.started("call", &mut observe);
    let failure = busy(&site).observe(&mut observe);
    call.failed_with(failure).unwrap();
    call.started("call", &mut observe);
    call.succeeded_observed(&site, &mut observe);
    let expected = [
        "starting call attempt=1",
        "retrying call attempt=1 max=3 delay=1s error=busy reason=transient",
        "starting call attempt=2",
        "succeeded call attempt=2 max=3",
    ];
    assert_eq!(lines, expected);
}

/// The pause before progress is part of the time spent, and must not be repeated.
#[test]
fn progress_that_was_saved_does_not_wait_again() {
    let policy = EXACT.max(1).deadline(secs(4));
    let site = Site::new(&policy, "feed");
    let mut call = Call::new();
    call.failed(&site, Verdict::TRANSIENT, &"cut off").unwrap();
    call = call.restarted(Duration::ZERO);
    let mut call = reloaded(&call);
    assert_eq!(call.spent(), secs(1));
    // 1 s was spent, and 2 s follow.
    let expected = Ok(secs(2));
    assert_eq!(call.failed(&site, Verdict::TRANSIENT, &"cut off"), expected);
    assert_eq!(call.spent(), secs(1));
}

#[test]
fn a_saved_call_continues_in_another_process() {
    let policy = EXACT
        .max(5)
        .throttled(Section::new().max(1))
        .deadline(secs(20));
    let site = Site::new(&policy, "call");
    let mut call = Call::new();
    call.failed(&site, Verdict::TRANSIENT, &"busy").unwrap();
    call.failed(&site, Verdict::THROTTLED, &"slow down")
        .unwrap();
    let failure = busy(&site).elapsed(secs(9));
    assert_eq!(call.failed_with(failure), Ok(secs(2)));
    let saved = serde_json::to_string(&call).unwrap();
    assert_eq!(
        saved,
        r#"{"retries":2,"corrections":0,"last_delay_ns":2000000000,"spent_ns":9000000000,"throttled":1,"max":5,"paused_ms":4000,"last_retry_followed":"transient"}"#,
    );

    let mut call: Call = serde_json::from_str(&saved).unwrap();
    let expected = (4, secs(2), secs(9));
    assert_eq!((call.attempt(), call.last_delay(), call.spent()), expected);
    let budget = Budget::standard();
    assert!(budget.withdraw(Kind::Transient));
    call.credit(&budget);
    assert_eq!(budget.to_string(), "500 of 500 tokens");
    let throttled = call.failed(&site, Verdict::THROTTLED, &"slow down");
    assert_eq!(throttled, Err(Reason::Exhausted));
    let at = |elapsed| busy(&site).elapsed(elapsed);
    // 9 s were spent before, 7 s since it was loaded, the pause among them; and 4 s would follow.
    assert_eq!({ call }.failed_with(at(secs(8))), Err(Reason::Deadline));
    assert_eq!(call.failed_with(at(secs(7))), Ok(secs(4)));
    assert_eq!(reloaded(&call).spent(), secs(16));
    // A binary format, which needs lengths in advance.
    let bytes = postcard::to_allocvec(&call).unwrap();
    let again: Call = postcard::from_bytes(&bytes).unwrap();
    assert_eq!((again.attempt(), again.spent()), (5, secs(16)));
}

#[test]
fn delays_restart_after_an_attempt_that_outlasted_its_pause() {
    let policy = EXACT.max(1);
    let site = Site::new(&policy, "feed");
    let mut call = Call::new();
    for (lasted, delay) in [(0, 1), (0, 2), (2, 4), (5, 1), (1, 2), (0, 4)] {
        // The call continues in another process.
        call = reloaded(&call.restarted(secs(lasted)));
        let pause = call.failed(&site, Verdict::TRANSIENT, &"reset");
        assert_eq!((pause, call.attempt()), (Ok(secs(delay)), 2), "{lasted}");
    }
    // All attempts are reported, those before progress, too.
    let recording = testing::record();
    let failed = call.failed(&site, Verdict::TRANSIENT, &"reset");
    assert_eq!((failed, call.attempt()), (Err(Reason::Exhausted), 2));
    assert_eq!(recording.attempts(), [7]);
}

#[test]
fn a_saved_call_may_have_more_keys_and_must_have_its_count() {
    let text = r#"{"note": "x", "retries": 2, "corrections": 1, "later": {"keys": [null, -1]}}"#;
    let call: Call = serde_json::from_str(text).unwrap();
    assert_eq!((call.attempt(), call.corrections()), (2, 1));
    let error = |text| serde_json::from_str::<Call>(text).unwrap_err().to_string();
    assert!(error("{}").starts_with("missing field `retries`"));
    assert!(error(r#"{"retries": 4294967296}"#).starts_with("invalid value: integer `4294967296`"));
    assert!(error(r#"{"retries": -1}"#).starts_with("invalid value: integer `-1`"));
    assert!(error(r#"{"retries": 1, "retries": 2}"#).starts_with("duplicate field `retries`"));
}

#[test]
fn a_loaded_call_counts_its_remaining_pause_once() {
    let policy = EXACT
        .backoff(Backoff::Fixed)
        .base(secs(4))
        .deadline(secs(10));
    let site = Site::new(&policy, "call");
    let mut call = Call::new();
    call.failed(&site, Verdict::TRANSIENT, &"busy").unwrap();
    for failure in [busy(&site).elapsed(secs(4)), busy(&site)] {
        let mut call = reloaded(&call);
        assert_eq!(call.failed_with(failure), Ok(secs(4)));
        assert_eq!(call.spent(), secs(4));
    }
}

#[test]
fn a_loaded_call_resumes_by_the_policy_in_force_and_reports_its_limit() {
    let saved = r#"{"retries": 1, "throttled": 2, "last_delay_ns": 1, "paused_ms": 3000}"#;
    let call: Call = serde_json::from_str(saved).unwrap();
    let throttled = |max| EXACT.max(0).throttled(Section::new().max(max));
    for (policy, resumed) in [
        (throttled(2), Ok(())),
        (throttled(1), Err(Reason::Exhausted)),
        (EXACT.max(0), Err(Reason::Exhausted)),
        (EXACT.enabled(false), Err(Reason::Exhausted)),
        (EXACT.total_delay(secs(3)), Ok(())),
        (EXACT.total_delay(secs(2)), Err(Reason::Deadline)),
    ] {
        let site = Site::new(&policy, "call");
        let failure = Failure::new(&site, Verdict::THROTTLED, &"busy");
        assert_eq!(call.resumed(failure), resumed, "{policy}");
    }
    let call: Call = serde_json::from_str(r#"{"retries": 1}"#).unwrap();
    let policy = EXACT.max(5).deadline(secs(10));
    let (site, recording) = (Site::new(&policy, "call"), testing::record());
    let failure = busy(&site).elapsed(secs(3600));
    assert_eq!(call.resumed(failure), Err(Reason::Deadline));
    let expected = ["gave up call attempt=1 max=5 error=busy reason=deadline"];
    assert_eq!(recording.lines(), expected);
}

#[test]
fn a_given_deadline_is_a_moment_that_replaces_the_policys() {
    let policy = EXACT.deadline(secs(1));
    let site = Site::new(&policy, "call");
    let at = |seconds| Moment::from_origin(secs(seconds));
    let until_10 = |now| busy(&site).deadline(Some(at(10)), || at(now));
    let unread = || unreachable!("nobody needs the time");
    let mut call = Call::new();
    assert_rows! {
        call.failed_with(busy(&site).deadline(None, unread)) => Ok(secs(1));
        { call }.failed_with(until_10(9)) => Err(Reason::Deadline);
        { call }.failed_with(until_10(11)) => Err(Reason::Deadline);
        call.failed_with(until_10(8)) => Ok(secs(2));
        call.failed_with(busy(&site)) => Err(Reason::Deadline);
    }
}

#[test]
fn a_budget_gets_back_what_a_panic_in_the_report_would_keep() {
    #[retry(backoff = "none", budget = turns, on = |_| true, observe = |event| {
        assert!(!matches!(event.data, EventData::Retrying { .. }), "an observer's own fault");
    })]
    fn call(turns: &Turns) -> Result<(), String> {
        Err(String::from("busy"))
    }

    let turns = Turns::new(5);
    assert!(catch_unwind(AssertUnwindSafe(|| call(&turns))).is_err());
    assert_eq!(turns.left(), 5);
}
