//! The built-in observers, and the counts, ends and times of events.

mod stats;
mod times;

use retry_runtime::AttemptEnd::{self, Failed, Stop};
use retry_runtime::testing::{Script, sequence};
use support::prelude::*;

fn verdict(error: &&str) -> Verdict {
    match *error {
        "busy" => Verdict::TRANSIENT,
        "slow down" => Verdict::THROTTLED,
        "no JSON" => Verdict::INVALID,
        _ => Verdict::STOP,
    }
}

/// The number of a retry, the most of its kind, and the most of the call.
type Count = (u32, Option<u32>, Option<u32>);

fn count(event: &Event<'_>) -> Option<Count> {
    match event.data {
        EventData::Retrying {
            retry,
            retry_max,
            max,
            ..
        } => Some((retry, retry_max, max)),
        _ => None,
    }
}

#[retry(policy = policy, on = verdict, observe = |event| counts.extend(count(event)))]
fn call(
    policy: &Policy,
    script: &Script<(), &'static str>,
    counts: &mut Vec<Count>,
) -> Result<(), &'static str> {
    script.next()
}

#[test]
fn a_retry_is_numbered_among_those_of_its_kind() {
    let once = Section::new().max(1);
    let without_end = Section::new().max(u32::MAX);
    let policy = Policy::none().max(3);
    for (policy, errors, expected) in rows! {
        policy, ["busy", "slow down", "no JSON"], [1, 2, 3].map(|retry| (retry, Some(3), Some(3)));
        policy.invalid(once), ["busy", "no JSON", "busy"],
            [(1, Some(3), Some(3)), (1, Some(1), Some(3)), (2, Some(3), Some(3))];
        policy.throttled(without_end), ["slow down", "slow down", "busy"],
            [(1, None, Some(3)), (2, None, Some(3)), (1, Some(3), Some(3))];
    } {
        let script = || sequence(errors.into_iter().map(Err).chain([Ok(())]));
        let mut counts = Vec::new();
        assert_eq!(call(&policy, &script(), &mut counts), Ok(()));
        assert_eq!(counts, expected);

        let (script, counts) = (script(), Mutex::new(Vec::new()));
        let keys = policy.on(verdict);
        let keys = keys.observe(|event| counts.lock().unwrap().extend(count(event)));
        let results = retry_each_blocking(keys, [()], |_| Ok(vec![script.next()]));
        assert!(results[0].is_ok());
        assert_eq!(counts.into_inner().unwrap(), expected, "in a batch");
    }
}

/// The end of the last attempt, and of the call.
type End = (Option<AttemptEnd>, Reason);

fn end_of(event: &Event<'_>) -> Option<End> {
    match event.data {
        EventData::GaveUp { ended, reason, .. } | EventData::FallingBack { ended, reason, .. } => {
            Some((ended, reason))
        }
        _ => None,
    }
}

#[test]
fn the_last_attempts_end_is_reported() {
    for (policy, errors, expected) in rows! {
        Policy::none().max(1), ["busy", "slow down"],
            (Some(Failed(Kind::Throttled)), Reason::Exhausted);
        Policy::none().max(1), ["slow down", "busy"],
            (Some(Failed(Kind::Transient)), Reason::Exhausted);
        Policy::none().max(1), ["busy", "forbidden"], (Some(Stop), Reason::NotRetryable);
        Policy::none().enabled(false), ["busy", ""],
            (Some(Failed(Kind::Transient)), Reason::Exhausted);
    } {
        let server = sequence(errors.map(Err::<(), _>));
        let mut ends = Vec::<End>::new();
        let call = policy
            .on(verdict)
            .observe(|event| ends.extend(end_of(event)));
        assert!(call.call_blocking(|| server.next()).is_err());
        assert_eq!(ends, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn no_end_is_reported_if_the_call_ends_after_its_attempt() {
    scripted! {
        #[retry(base = "10s", on = verdict, cancel = sleep(millis(1)), jitter = "none",
            observe = |event| ends.extend(end_of(event)))]
        async fn cancelled(ends: &mut Vec<End>) -> Result<(), &'static str> = Err("busy");
        #[retry(max = 0, on = verdict, fallback = async |_| Err("no page"), observe = |event| ends.extend(end_of(event)))]
        async fn falls_back(ends: &mut Vec<End>) -> Result<(), &'static str> = Err("busy");
    }

    let mut ends = Vec::<End>::new();
    assert!(cancelled(&mut ends).await.is_err());
    assert!(falls_back(&mut ends).await.is_err());
    let expected = rows! {
        None, Reason::Cancelled;
        Some(Failed(Kind::Transient)), Reason::Exhausted;
        None, Reason::FallbackFailed;
    };
    assert_eq!(ends, expected);
}
