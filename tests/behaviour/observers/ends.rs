//! Events of calls that end contain the end of the last attempt.

use retry_runtime::AttemptEnd::{self, Failed, Stop};
use retry_runtime::testing::sequence;
use support::prelude::*;

use crate::observers::verdict;

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
