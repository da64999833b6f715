//! Events of calls that end say of which kind the last attempt's failure was.

use std::time::Duration;

use retry_runtime::testing::sequence;
use retry_runtime::{Event, Kind, Policy, Reason, Verdict, retry};

type Ends = Vec<(Option<Kind>, Reason)>;

fn verdict(error: &&str) -> Verdict {
    match *error {
        "busy" => Verdict::TRANSIENT,
        "slow down" => Verdict::THROTTLED,
        _ => Verdict::STOP,
    }
}

fn end_of(event: &Event<'_>) -> Option<(Option<Kind>, Reason)> {
    match *event {
        Event::GaveUp { kind, reason, .. } | Event::FallingBack { kind, reason, .. } => {
            Some((kind, reason))
        }
        _ => None,
    }
}

#[test]
fn the_kind_is_that_of_the_attempt_that_ended_the_call() {
    for (policy, errors, expected) in [
        (
            Policy::none().max(1),
            ["busy", "slow down"],
            (Some(Kind::Throttled), Reason::Exhausted),
        ),
        (
            Policy::none().max(1),
            ["slow down", "busy"],
            (Some(Kind::Transient), Reason::Exhausted),
        ),
        (
            Policy::none().max(1),
            ["busy", "forbidden"],
            (None, Reason::NotRetryable),
        ),
        (
            Policy::none().enabled(false),
            ["busy", ""],
            (None, Reason::Exhausted),
        ),
    ] {
        let server = sequence(errors.map(Err::<(), _>));
        let mut ends = Ends::new();
        let call = policy
            .on(verdict)
            .observe(|event| ends.extend(end_of(event)));
        assert!(call.call_blocking(|| server.next()).is_err());
        assert_eq!(ends, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn there_is_none_where_a_call_ends_after_its_attempt() {
    #[retry(base = "10s", on = verdict, cancel = tokio::time::sleep(Duration::from_millis(1)), jitter = "none",
        observe = |event| ends.extend(end_of(event)))]
    async fn cancelled(ends: &mut Ends) -> Result<(), &'static str> {
        Err("busy")
    }

    #[retry(max = 0, on = verdict, fallback = async |_| Err("no page"), observe = |event| ends.extend(end_of(event)))]
    async fn falls_back(ends: &mut Ends) -> Result<(), &'static str> {
        Err("busy")
    }

    let mut ends = Ends::new();
    assert!(cancelled(&mut ends).await.is_err());
    assert!(falls_back(&mut ends).await.is_err());
    assert_eq!(
        ends,
        [
            (None, Reason::Cancelled),
            (Some(Kind::Transient), Reason::Exhausted),
            (None, Reason::FallbackFailed),
        ]
    );
}
