//! Calls with `policy.durable`: attempts are counted, pauses are stored, and no step runs twice.

use std::future::pending;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use restate_sdk::prelude::{Context, HandlerResult, service};
use retry_durable::{Durable, Engine};
use retry_runtime::seam::RetryBudget;
use retry_runtime::{Backoff, Jitter, Kind, Policy};

use crate::Notes;
use crate::lab::{Lab, Service, until};

const PAUSE: Duration = Duration::from_secs(5);
const ATTEMPT: Duration = Duration::from_millis(500);
/// The time after the start of an attempt: late enough to detect a pause that starts again.
const LATE_IN_PAUSE: Duration = Duration::from_secs(3);
/// The maximum delay of an attempt on a busy machine. A pause that starts again would end later.
const LATE: Duration = Duration::from_millis(2400);

pub(crate) struct Charges(pub(crate) Notes);

#[service]
impl Charges {
    /// Each attempt takes a while, one until it is killed. Which of them succeed is in the order's name.
    #[handler]
    async fn charge(&self, ctx: Context<'_>, order: String) -> HandlerResult<u32> {
        self.0.add("runs", &order);
        let policy = Policy::new()
            .backoff(Backoff::Fixed)
            .base(PAUSE)
            .jitter(Jitter::None);
        let policy = match order.as_str() {
            // Enough time for the second attempt, but not for a pause after it.
            "late" => policy.deadline(PAUSE * 2 + ATTEMPT),
            "panics" => policy.max(0),
            "revoked" if !self.0.lines("stop").is_empty() => policy.enabled(false),
            _ => policy,
        };
        let call = Durable::new(policy)
            .on(|error: &String| error.starts_with("503"))
            .budget(self);
        // The name in the code, which may change meanwhile.
        let renamed = self.0.lines("renamed");
        let name = renamed.first().unwrap_or(&order);
        let charged = call.call(&ctx, name, || self.attempt(&order)).await?;
        Ok(charged)
    }

    /// JSON writes this as `null`.
    #[handler]
    async fn rate(&self, ctx: Context<'_>, order: String) -> HandlerResult<f64> {
        self.0.add("rates", &order);
        Ok(ctx.step("rate", async { f64::NAN }).await?)
    }
}

impl Charges {
    async fn attempt(&self, order: &str) -> Result<u32, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let attempts = format!("attempts {order}");
        self.0.add(&attempts, &now.as_millis().to_string());
        let begun = self.0.lines(&attempts).len();
        if (order, begun) == ("killed", 2) {
            return pending().await;
        }
        tokio::time::sleep(ATTEMPT).await;
        self.0.add("ended", order);
        match (order, begun) {
            ("declined", _) => Err("402 declined".to_owned()),
            ("panics", 1 | 2) => panic!("a bug"),
            ("third" | "panics", 3) | ("killed", 5) | ("renamed", 2) | ("too late", 1) => Ok(7),
            _ => Err(format!("503 number {begun}")),
        }
    }
}

impl RetryBudget for Charges {
    fn withdraw(&self, _: Kind) -> bool {
        self.0.add("withdrawn", "1");
        true
    }

    fn refund(&self, _: Kind) {
        self.0.add("refunded", "1");
    }
}

/// Starts a server and the service.
fn charges() -> (Lab, Service, Notes) {
    let lab = Lab::new();
    let (service, notes) = (lab.service("charges"), lab.notes());
    (lab, service, notes)
}

/// Returns the log of an order, without times.
fn records(notes: &Notes, order: &str) -> Vec<String> {
    let call = format!(" call={order} ");
    let lines = notes.lines("log").into_iter();
    let lines = lines.filter_map(|line| {
        let (what, rest) = line.split_once(" retry: ")?.1.split_once(&call)?;
        let attempt = rest.split(' ').next()?;
        let what = what.split(' ').next()?;
        Some(format!("{what} {attempt}"))
    });
    lines.collect()
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_run_replayed_in_each_pause_repeats_no_step() {
    let (lab, _service, notes) = charges();
    let orders: [(&str, u16, &str, &[&str]); 3] = [
        (
            "third",
            200,
            "7",
            &[
                "retrying attempt=1",
                "retrying attempt=2",
                "succeeded attempt=3",
            ],
        ),
        ("declined", 500, "402 declined", &["gave attempt=1"]),
        (
            "late",
            500,
            "503 number 2",
            &["retrying attempt=1", "gave attempt=2"],
        ),
    ];
    for (order, status, answer, log) in orders {
        // The second run uses the stored result.
        for _ in 0..2 {
            let (was, text) = lab.call("Charges/charge", order, order);
            assert_eq!(was, status, "{order}: {text}");
            assert!(text.contains(answer), "{order}: {text}");
            let attempts = notes.lines(&format!("attempts {order}"));
            assert_eq!(attempts.len(), log.len(), "{order}");
            assert_eq!(records(&notes, order), log, "{order}");
        }
        let runs = notes.lines("runs");
        let runs = runs.iter().filter(|run| *run == order).count();
        assert!(runs >= log.len(), "{order} was replayed {runs} times");
    }
    assert_eq!(notes.lines("withdrawn").len(), 3);
    assert_eq!(notes.lines("refunded").len(), 0);
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_cancelled_call_makes_no_further_attempt() {
    let (lab, _service, notes) = charges();
    let gave_up = ["retrying attempt=1", "gave attempt=1"];
    // During the pause, in an attempt that fails, and in one that succeeds.
    let orders: [(&str, bool, &[&str]); 3] = [
        ("paused", true, &gave_up),
        ("failing", false, &gave_up),
        ("too late", false, &[]),
    ];
    for (order, pauses, log) in orders {
        let (_, answer) = lab.call("Charges/charge/send", order, order);
        let attempts = || notes.lines(&format!("attempts {order}")).len();
        until("the first attempt", || attempts() == 1);
        if pauses {
            until("the first pause", || !records(&notes, order).is_empty());
            // The record comes before the pause.
            sleep(PAUSE / 3);
        }
        lab.cancel(&answer);
        let (status, text) = lab.call("Charges/charge", order, order);
        assert_eq!(status, 409, "{order}: {text}");
        assert!(text.contains("cancelled"), "{order}: {text}");
        assert_eq!(attempts(), 1, "{order}");
        assert!(notes.lines("ended").iter().any(|ended| ended == order));
        assert_eq!(records(&notes, order), log, "{order}");
    }
    assert_eq!(notes.lines("withdrawn").len(), 2);
    assert_eq!(notes.lines("refunded").len(), 2);
}

/// Its timer runs out, as the server has it already.
#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_retry_that_the_policy_no_longer_allows_is_not_made() {
    let (lab, _service, notes) = charges();
    lab.call("Charges/charge/send", "revoked", "revoked");
    until("the first pause", || !records(&notes, "revoked").is_empty());
    notes.add("stop", "1");
    for _ in 0..2 {
        let (status, text) = lab.call("Charges/charge", "revoked", "revoked");
        assert_eq!(status, 500, "{text}");
        assert!(text.contains("503 number 1"), "{text}");
        let log = ["retrying attempt=1", "gave attempt=1"];
        assert_eq!(records(&notes, "revoked"), log);
    }
    assert_eq!(notes.lines("attempts revoked").len(), 1);
    assert_eq!(notes.lines("refunded").len(), 1);
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn an_attempt_that_panics_is_made_again_with_any_policy() {
    let (lab, _service, notes) = charges();
    let (status, text) = lab.call("Charges/charge", "panics", "panics");
    assert_eq!((status, text.as_str()), (200, "7"));
    assert_eq!(notes.lines("attempts panics").len(), 3);
    assert_eq!(notes.lines("withdrawn").len(), 0);
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_result_that_does_not_read_back_ends_the_invocation() {
    let (lab, _service, notes) = charges();
    let (status, text) = lab.call("Charges/rate", "odd", "odd");
    assert_eq!(status, 500, "{text}");
    assert!(text.contains("the result of step `rate`"), "{text}");
    assert_eq!(notes.lines("rates").len(), 1);
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_call_renamed_by_new_code_waits_for_the_old_code() {
    let (lab, _service, notes) = charges();
    lab.call("Charges/charge/send", "renamed", "renamed");
    until("the first pause", || !records(&notes, "renamed").is_empty());
    notes.add("renamed", "another");
    until("error 570", || lab.log_contains("[570 Journal mismatch]"));
    notes.remove("renamed");
    let (status, text) = lab.call("Charges/charge", "renamed", "renamed");
    assert_eq!((status, text.as_str()), (200, "7"));
    assert_eq!(notes.lines("attempts renamed").len(), 2);
}

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn a_call_continues_after_its_service_and_the_server_are_killed() {
    let mut lab = Lab::new();
    let mut service = lab.service("charges");
    let notes = lab.notes();
    let begun = || notes.lines("attempts killed").len();
    // The caller disconnects, too.
    let (status, text) = lab.call("Charges/charge/send", "killed", "killed");
    assert_eq!(status, 202, "{text}");

    until("the first attempt", || begun() == 1);
    sleep(LATE_IN_PAUSE);
    service.restart();
    until("the second attempt", || begun() == 2);
    sleep(ATTEMPT / 2);
    service.restart();
    until("the second attempt again", || begun() == 3);
    sleep(LATE_IN_PAUSE);
    lab.restart();
    for _ in 0..2 {
        let (status, text) = lab.call("Charges/charge", "killed", "killed");
        assert_eq!((status, text.as_str()), (200, "7"));
    }

    let begun = notes.lines("attempts killed");
    let begun: Vec<u64> = begun.iter().map(|line| line.parse().unwrap()).collect();
    let lags: Vec<u64> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let lags: Vec<_> = lags.into_iter().map(Duration::from_millis).collect();
    let kept = ATTEMPT + PAUSE..ATTEMPT + PAUSE + LATE;
    assert_eq!(lags.len(), 4, "{lags:?}");
    assert!(lags[1] < PAUSE, "{lags:?}");
    for lag in [lags[0], lags[2], lags[3]] {
        assert!(kept.contains(&lag), "{lags:?}");
    }
    // The attempt that was killed is none.
    let log = ["retrying 1", "retrying 2", "retrying 3", "succeeded 4"];
    assert_eq!(
        records(&notes, "killed").join(" ").replace("attempt=", ""),
        log.join(" ")
    );
}
