//! The attempts in a `GaveUp`: as a table, as data, and in an error chain.

use retry_runtime::testing::{Script, sequence};
use serde_json::json;
use support::prelude::*;

const SECOND: Duration = secs(1);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
struct Failed(&'static str);

impl From<Rejected> for Failed {
    fn from(_: Rejected) -> Self {
        Self("rejected")
    }
}

fn verdict(error: &Failed) -> Verdict {
    match error.0.trim_end() {
        "slow down" => Verdict::THROTTLED,
        "timed out" => Verdict::TIMEOUT,
        "forbidden" => Verdict::STOP,
        _ => Verdict::TRANSIENT,
    }
}

/// Keeps what a call gave up with.
#[derive(Default)]
struct Kept<T = ()>(Mutex<Option<GaveUp<Failed, T>>>);

impl<T> Kept<T> {
    fn keep(&self, gave_up: GaveUp<Failed, T>) -> Failed {
        let error = gave_up.error().clone();
        *self.0.lock().unwrap() = Some(gave_up);
        error
    }

    fn taken(self) -> GaveUp<Failed, T> {
        self.0.into_inner().unwrap().expect("the call gave up")
    }
}

fn script<const N: usize>(errors: [&'static str; N]) -> Script<u32, Failed> {
    sequence(errors.map(|error| Err(Failed(error))))
}

#[retry(max = 3, jitter = "none", on = verdict, give_up = |gave_up| kept.keep(gave_up))]
async fn fetch(server: &Script<u32, Failed>, kept: &Kept) -> Result<u32, Failed> {
    sleep(SECOND / 4).await;
    server.next()
}

async fn of_fetch<const N: usize>(errors: [&'static str; N]) -> GaveUp<Failed> {
    let kept = Kept::default();
    assert!(fetch(&script(errors), &kept).await.is_err());
    kept.taken()
}

/// The number of each attempt, its start in milliseconds, the kind of failure, and the pause after it in seconds.
type History = Vec<(Option<u32>, Option<u128>, Option<Kind>, Option<u64>)>;

fn history<T>(gave_up: &GaveUp<Failed, T>) -> History {
    let shown = gave_up.failures().map(|failed| {
        let began = failed.began.map(|began| began.as_millis());
        let pause = failed.pause.map(|pause| pause.as_secs());
        (failed.number, began, failed.kind, pause)
    });
    shown.collect()
}

/// The breaker opens with the second failure, and rejects what would follow its pause.
#[tokio::test(start_paused = true)]
async fn a_call_that_ends_after_a_pause_contains_it() {
    scripted! {
        #[retry(max = 3, jitter = "none", on = verdict, breaker = breaker, give_up = |gave_up| kept.keep(gave_up))]
        async fn fetch(server: &Script<u32, Failed>, breaker: &Breaker, kept: &Kept) -> Result<u32, Failed>
            = server.next();
    }

    let breaker = Breaker::new().consecutive_failures(2);
    let retried = [
        (Some(1), Some(0), Some(Kind::Transient), Some(1)),
        (Some(2), Some(1_000), Some(Kind::Timeout), Some(2)),
    ];
    // The next call makes no attempt.
    let rejected = [(Some(0), None, None, None)];
    for (error, attempts, expected) in rows! {
        "timed out", 2, &retried[..];
        "rejected", 0, &rejected;
    } {
        let kept = Kept::default();
        let failed = fetch(&script(["busy", "timed out"]), &breaker, &kept).await;
        assert_eq!(failed, Err(Failed(error)));
        let gave_up = kept.taken();
        assert_eq!(gave_up.reason(), Reason::Rejected);
        assert_eq!(gave_up.attempts(), attempts);
        assert_eq!(history(&gave_up), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_table_has_a_row_for_each() {
    let gave_up = of_fetch(["busy", "slow down", "forbidden\n"]).await;
    let table = [
        r"gave up after 3 attempts in 3.75s (not retryable): forbidden\n",
        r"attempt  began  kind       pause  error",
        r"      1  0ns    transient  1s     busy",
        r"      2  1.25s  throttled  2s     slow down",
        r"      3  3.5s                     forbidden\n",
    ];
    assert_eq!(gave_up.to_string(), table[0]);
    assert_eq!(format!("{gave_up:#}"), table.join("\n"));
}

#[test]
fn a_long_call_leaves_the_middle_out() {
    scripted! {
        #[retry(max = 199, backoff = "none", on = verdict, give_up = |gave_up| kept.keep(gave_up))]
        fn read(server: &Script<u32, Failed>, kept: &Kept) -> Result<u32, Failed> = server.next();
    }

    let kept = Kept::default();
    assert!(read(&script(["busy"; 200]), &kept).is_err());
    let gave_up = kept.taken();
    let numbers = history(&gave_up).into_iter().map(|failure| failure.0);
    let numbers: Vec<_> = numbers.flatten().collect();
    assert_eq!(numbers[..11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100]);
    assert_eq!((numbers.len(), numbers.last()), (111, Some(&200)));
    let table = format!("{gave_up:#}");
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[12], "… 89 left out");
    assert!(lines[11].starts_with("     10  "), "{table}");
    assert!(lines[13].starts_with("    100  "), "{table}");
}

#[tokio::test(start_paused = true)]
async fn rejected_values_and_corrections_are_of_kind_invalid() {
    scripted! {
        #[retry(max = 1, jitter = "none", on = verdict, give_up = |gave_up| kept.keep(gave_up),
            validate = |_: &u32| Err(Failed("too small")))]
        async fn asked_again(kept: &Kept<u32>) -> Result<u32, Failed> = Ok(1);
    }

    let kept = Kept::default();
    assert!(asked_again(&kept).await.is_err());
    let expected = [
        (Some(1), Some(0), Some(Kind::Invalid), Some(0)),
        (Some(2), Some(0), Some(Kind::Invalid), None),
    ];
    assert_eq!(history(&kept.taken()), expected);
}

#[tokio::test(start_paused = true)]
async fn hedged_attempts_have_no_number() {
    #[retry(max = 1, jitter = "none", hedge = "1s", on = verdict, give_up = |gave_up| kept.keep(gave_up))]
    async fn slow(kept: &Kept) -> Result<u32, Failed> {
        sleep(3 * SECOND).await;
        Err(Failed("busy"))
    }

    let kept = Kept::default();
    assert!(slow(&kept).await.is_err());
    let last = (Some(2), None, Some(Kind::Transient), None);
    assert_eq!(history(&kept.taken()), [(None, None, None, None), last]);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_and_a_chain_get_the_same() {
    scripted! {
        #[retry(max = 1, jitter = "none", on = verdict, fallback = async |gave_up| Err(kept.keep(gave_up)))]
        async fn fetch(server: &Script<u32, Failed>, kept: &Kept) -> Result<u32, Failed> = server.next();
    }

    let errors = || script(["busy", "slow down"]);
    let (of_attribute, of_chain) = <(Kept, Kept)>::default();
    fetch(&errors(), &of_attribute).await.unwrap_err();
    let (policy, server) = (Policy::new().max(1).jitter(Jitter::None), errors());
    let chain = policy.on(verdict);
    let chain = chain.fallback(async |gave_up| Err(of_chain.keep(gave_up)));
    chain.call(async || server.next()).await.unwrap_err();
    for kept in [of_attribute, of_chain] {
        let expected = [
            (Some(1), Some(0), Some(Kind::Transient), Some(1)),
            (Some(2), Some(1_000), Some(Kind::Throttled), None),
        ];
        assert_eq!(history(&kept.taken()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn gave_up_can_be_serialised() {
    let gave_up = of_fetch([
        "slow down",
        "at http://me:pw@host/?key=secret",
        "busy",
        "busy",
    ])
    .await;
    assert_eq!(
        serde_json::to_value(&gave_up).expect("JSON"),
        json!({
            "reason": "exhausted",
            "attempts": 4,
            "corrections": 0,
            "elapsed": 8.0,
            "error": "busy",
            "failures": [
                { "attempt": 1, "began": 0.0, "kind": "throttled", "pause": 1.0, "error": "slow down" },
                { "attempt": 2, "began": 1.25, "kind": "transient", "pause": 2.0, "error": "at http://host/" },
                { "attempt": 3, "began": 3.5, "kind": "transient", "pause": 4.0, "error": "busy" },
                { "attempt": 4, "began": 7.75, "kind": "transient", "pause": null, "error": "busy" },
            ],
            "failures_left_out": 0,
        })
    );
    assert_eq!(gave_up.reason(), Reason::Exhausted);
}

/// As in a report of the whole error chain, such as anyhow's.
#[test]
fn gave_up_shows_each_text_once_in_a_chain() {
    #[derive(Debug, thiserror::Error)]
    #[error("can't reach the model")]
    struct Unreachable(#[from] io::Error);

    let kept = Mutex::new(None);
    let policy = Policy::none().max(0).on(|_: &Unreachable| true);
    let call = policy.fallback(|gave_up: GaveUp<Unreachable>| {
        *kept.lock().unwrap() = Some(gave_up);
        Ok(())
    });
    let refused = || Unreachable(io::Error::other("connection refused"));
    call.call_blocking(|| Err(refused())).expect("fell back");
    let gave_up = kept.into_inner().unwrap().expect("the call gave up");
    let source = gave_up.source().map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("connection refused"));
    let report = format!("{:#}", anyhow::Error::from(gave_up));
    let (_, report) = report.split_once(" (exhausted): ").expect("a reason");
    assert_eq!(report, "can't reach the model: connection refused");
}
