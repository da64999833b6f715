//! A call continues where the program ended.

use std::fmt;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retry_durable::{Durable, DurableError, DurablePolicy, Engine};
use retry_runtime::testing::Recorder;
use retry_runtime::{Backoff, Policy, Section, Verdict, testing};
use tokio::time::{Instant, sleep, timeout};

use crate::run::{OneClock, Run};
use crate::server::{Server, Turns, is_busy};
use crate::{EXACT, secs};

/// A program that is killed after some time, and started again until it completes.
#[tokio::test(start_paused = true)]
async fn a_call_continues_after_any_crash() {
    // Killed during the first pause, the second, both, and at their ends.
    for lives in [
        vec![],
        vec![500],
        vec![1500],
        vec![200, 300, 400],
        vec![1000, 2000],
        vec![0, 0, 0],
    ] {
        let (run, server, turns) = (Run::new(), Server::failing(2), Turns::default());
        let recording = testing::record();
        let program = async || {
            let journal = run.open();
            let call = Durable::new(Policy::new()).on(is_busy).budget(&turns);
            call.call(&journal, "charge", async || server.post()).await
        };
        for life in &lives {
            let _ = timeout(Duration::from_millis(*life), program()).await;
        }
        assert_eq!(program().await.unwrap(), 2, "{lives:?}");
        assert_eq!(server.requests.load(SeqCst), 3, "{lives:?}");
        assert_eq!(turns.0.load(SeqCst), 2);
        let lines = recording.lines();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("retrying charge attempt=1 max=3 "));
        assert!(lines[1].starts_with("retrying charge attempt=2 max=3 "));
        assert!(
            lines[2].starts_with("succeeded charge attempt=3"),
            "{lines:?}"
        );
        // Another run has the same result without a request.
        assert_eq!(program().await.unwrap(), 2);
        assert_eq!(server.requests.load(SeqCst), 3);
        assert_eq!(recording.lines().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_attempt_is_made_again() {
    let run = Run::new();
    let attempts = AtomicU32::new(0);
    let program = async || {
        let journal = run.open();
        let attempt = async || {
            attempts.fetch_add(1, SeqCst);
            sleep(secs(10)).await;
            Ok::<_, String>(42)
        };
        let call = Durable::new(EXACT).on(is_busy);
        call.call(&journal, "slow", attempt).await
    };
    assert!(timeout(secs(5), program()).await.is_err());
    assert_eq!(program().await.unwrap(), 42);
    assert_eq!(attempts.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_end_is_the_same_each_time() {
    let run = Run::new();
    let server = Server::failing(9);
    let program = async || {
        let journal = run.open();
        let call = Durable::new(EXACT.max(2)).on(is_busy);
        call.call(&journal, "charge", async || server.post()).await
    };
    let recording = testing::record();
    for _ in 0..3 {
        match program().await {
            Err(DurableError::GaveUp(error)) => assert_eq!(error, "503 number 2"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.requests.load(SeqCst), 3);
    assert_eq!(recording.delays(), [1, 2].map(secs));
    assert_eq!(recording.lines().len(), 3);
}

/// Killed after the attempt was stored, and before its pause started.
#[tokio::test(start_paused = true)]
async fn a_pause_counts_from_the_attempt_before_it() {
    for (life, next) in [(3, 10), (9, 10), (15, 15)] {
        let (run, server, clock) = (Run::new(), Server::failing(1), Instant::now());
        let program = async |sleeps| {
            let call = Durable::new(EXACT.base(secs(10))).on(is_busy);
            let engine = OneClock {
                journal: run.open(),
                clock,
                ahead: Duration::ZERO,
                sleeps,
            };
            call.call(&engine, "charge", async || server.post()).await
        };
        let killed = timeout(secs(life), program(false)).await;
        assert!(killed.is_err());
        assert_eq!(program(true).await.unwrap(), 1);
        assert_eq!(clock.elapsed(), secs(next));
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_makes_no_pause_longer() {
    let run = Run::new();
    let journal = run.open();
    // The end that was stored while the clock was ahead.
    let end = async { journal.now().since_origin() + secs(1_000_000) };
    journal.step("pause", end).await.unwrap();
    drop(journal);
    let journal = run.open();
    let start = Instant::now();
    journal.sleep("pause", secs(10)).await.unwrap();
    assert_eq!(start.elapsed(), secs(10));
}

/// A deadline counts from the first start, not from each.
#[tokio::test(start_paused = true)]
async fn a_deadline_spans_restarts() {
    let run = Run::new();
    let server = Server::failing(9);
    let started = Instant::now();
    let program = async || {
        let engine = OneClock {
            journal: run.open(),
            clock: started,
            ahead: Duration::ZERO,
            sleeps: true,
        };
        let policy = EXACT.max(9).backoff(Backoff::Fixed).base(secs(3));
        let call = Durable::new(policy.deadline(secs(10))).on(is_busy);
        call.call(&engine, "charge", async || server.post()).await
    };
    for _ in 0..4 {
        let _ = timeout(secs(2), program()).await;
    }
    assert!(program().await.is_err());
    assert_eq!(server.requests.load(SeqCst), 4);
    assert_eq!(started.elapsed(), secs(9));
    // An attempt that is late because the program did not run doesn't start, either. In JSON, this error is `null`.
    let (run, server, turns) = (Run::new(), Server::failing(9), Turns::default());
    let program = async || {
        let engine = OneClock {
            journal: run.open(),
            clock: started,
            ahead: Duration::ZERO,
            sleeps: true,
        };
        let call = Durable::new(EXACT.deadline(secs(10))).on(|(): &()| true);
        let call = call.budget(&turns);
        call.call(&engine, "charge", async || server.post().map_err(drop))
            .await
    };
    let _ = timeout(Duration::from_millis(500), program()).await;
    assert_eq!(turns.0.load(SeqCst), 1);
    sleep(secs(60)).await;
    let recording = testing::record();
    for _ in 0..2 {
        assert!(program().await.is_err());
        assert_eq!(server.requests.load(SeqCst), 1);
        // The retry never started.
        assert_eq!(turns.0.load(SeqCst), 0);
    }
    let line = "gave up charge attempt=1 max=3 error=() reason=deadline";
    assert_eq!(recording.lines(), [line]);
}

/// The first policy allowed a retry in an hour. In the next run, at the start of the pause or in that retry, another
/// policy applies.
#[tokio::test(start_paused = true)]
async fn a_retry_that_the_policy_no_longer_allows_is_not_made() {
    const HOUR: Duration = secs(3600);
    let first = EXACT.backoff(Backoff::Fixed).base(HOUR).cap(HOUR).max(20);
    let throttled = Section::new().max(2);
    let table = [
        (first.enabled(false), Some((0, "exhausted"))),
        (first.max(0), Some((0, "exhausted"))),
        (first.max(2), Some((2, "exhausted"))),
        (first.throttled(throttled), None),
        (first.deadline(HOUR * 2), Some((20, "deadline"))),
        (first.total_delay(HOUR * 2), Some((20, "deadline"))),
        (first.max(3).deadline(HOUR * 3).total_delay(HOUR * 3), None),
    ];
    for (second, end) in table {
        for life in [HOUR * 2 + secs(1), HOUR * 3 + secs(1)] {
            let (run, server, turns) = (Run::new(), Server::failing(3), Turns::default());
            let program = async |policy| {
                let journal = run.open();
                let call = Durable::new(policy).on(is_busy).budget(&turns);
                let posted = call.call(&journal, "charge", async || {
                    if server.requests.load(SeqCst) == 3 && policy == first {
                        sleep(HOUR).await;
                    }
                    server.post()
                });
                posted.await
            };
            assert!(timeout(life, program(first)).await.is_err());
            let (recording, started) = (testing::record(), Instant::now());
            for policy in [second, first] {
                let ended = program(policy).await.map_err(|error| error.to_string());
                let Some((max, reason)) = end else {
                    assert_eq!(ended, Ok(3));
                    continue;
                };
                assert_eq!(ended, Err("503 number 2".to_owned()), "{end:?}");
                let error = "error=alloc::string::String";
                let line = format!("gave up charge attempt=3 max={max} {error} reason={reason}");
                assert_eq!(recording.lines(), [line]);
                assert_eq!(server.requests.load(SeqCst), 3, "{end:?}");
                assert_eq!(turns.0.load(SeqCst), 2, "{end:?}");
                assert_eq!(started.elapsed(), secs(0), "{end:?}");
            }
        }
    }
}

mod before {
    #[derive(Debug, PartialEq, retry_runtime::Classify, serde::Serialize, serde::Deserialize)]
    #[classify(transient)]
    pub(super) enum Failure {
        Busy { node: u32 },
    }
}

mod renamed {
    #[derive(Debug, retry_runtime::Classify, serde::Serialize, serde::Deserialize)]
    #[classify(transient)]
    pub(super) enum Failure {
        Overloaded { node: u32 },
    }
}

/// During a pause, and after the end of a call. The data for the decision about the next attempt is stored separately
/// from the error.
#[tokio::test(start_paused = true)]
async fn an_error_that_new_code_cannot_read_stops_no_attempt() {
    let busy = || before::Failure::Busy { node: 7 };
    for (max, second, made) in [(1, EXACT, 2), (1, EXACT.max(0), 1), (0, EXACT, 1)] {
        let (run, recording, first) = (Run::new(), testing::record(), EXACT.max(max));
        let old = async || {
            let journal = run.open();
            let attempt = async || Err::<u32, _>(busy());
            let ended = first.durable(&journal, "charge", attempt);
            timeout(Duration::from_millis(500), ended).await
        };
        assert_eq!(old().await.is_err(), max > 0);
        let journal = run.open();
        let attempt = async || Ok::<u32, renamed::Failure>(7);
        let ended = second.durable(&journal, "charge", attempt).await;
        drop(journal);
        if made == 2 {
            assert_eq!(ended.unwrap(), 7);
            assert!(recording.lines()[1].starts_with("succeeded charge attempt=2 "));
            continue;
        }
        let Err(DurableError::Unreadable(error)) = ended else {
            panic!("{ended:?}");
        };
        assert_eq!(
            error.to_string(),
            "the call failed, and this program can't read the stored error (unknown variant `Busy`, expected \
             `Overloaded` at line 1 column 7): {\"Busy\":{\"node\":7}}"
        );
        match old().await {
            Ok(Err(DurableError::GaveUp(error))) => assert_eq!(error, busy()),
            other => panic!("{other:?}"),
        }
        assert!(
            recording
                .lines()
                .last()
                .unwrap()
                .ends_with("reason=exhausted")
        );
    }
}

/// After a long call, only its last two attempts are still in the file when it is opened again.
#[tokio::test(start_paused = true)]
async fn a_long_call_leaves_a_short_journal() {
    let late = Err("503 number 400");
    for (deadline, down, requests, expected) in [
        (secs(999), secs(0), 451, Ok(450)),
        (secs(420), secs(60), 401, late),
    ] {
        let (run, server, recording) = (Run::new(), Server::failing(450), testing::record());
        let program = async |down| {
            let journal = run.open();
            sleep(down).await;
            let policy = EXACT.max(u32::MAX).backoff(Backoff::Fixed).base(secs(1));
            let call = Durable::new(policy.deadline(deadline)).on(is_busy);
            let ended = call.call(&journal, "charge", async || server.post()).await;
            ended.map_err(|error| error.to_string())
        };
        let life = Duration::from_millis(400_500);
        assert!(timeout(life, program(secs(0))).await.is_err());
        let length = || fs::metadata(&run.path).unwrap().len();
        let long = length();
        // A partial last line.
        let mut file = fs::OpenOptions::new().append(true).open(&run.path).unwrap();
        file.write_all(b"{\"check\":\"\0\0\0}\n").unwrap();
        drop(run.open());
        assert!(length() < long / 50, "{long} and then {}", length());
        for _ in 0..2 {
            let ended = program(down).await;
            assert_eq!(ended, expected.map_err(str::to_owned));
            assert_eq!(server.requests.load(SeqCst), requests);
        }
        assert!(recording.delays().iter().all(|delay| *delay == secs(1)));
        let last = recording.lines().pop().unwrap();
        assert!(last.contains(&format!(" attempt={requests} ")), "{last}");
        assert!(run.open().unasked().len() < 10);
    }
}

/// The clock is set back by an hour in the second of three runs, and then corrected.
#[tokio::test(start_paused = true)]
async fn a_deadline_survives_a_clock_that_is_set_back_and_corrected() {
    let right = secs(3600);
    for second in [right, Duration::ZERO] {
        let (run, server, clock) = (Run::new(), Server::failing(99), Instant::now());
        let program = async |ahead| {
            let engine = OneClock {
                journal: run.open(),
                clock,
                ahead,
                sleeps: true,
            };
            let policy = EXACT.max(u32::MAX).backoff(Backoff::Fixed).base(secs(10));
            let call = Durable::new(policy.deadline(secs(75))).on(is_busy);
            call.call(&engine, "charge", async || server.post()).await
        };
        for (life, ahead) in [(secs(16), right), (secs(20), second)] {
            assert!(timeout(life, program(ahead)).await.is_err());
        }
        let ended = program(right).await;
        assert!(matches!(ended, Err(DurableError::GaveUp(_))));
        assert_eq!(clock.elapsed(), secs(70), "{second:?}");
        assert_eq!(server.requests.load(SeqCst), 8);
    }
}

/// The clock continues from the last step: with the system clock, an hour would pass before the deadline counts again.
#[tokio::test(start_paused = true)]
async fn a_journal_opened_with_the_clock_set_back_continues_counting() {
    let (run, server) = (Run::new(), Server::failing(99));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let ahead = now.as_secs() + 3600;
    fs::write(
        &run.path,
        format!(
            "{{\"step\":\"charge: begun\",\"result\":{{\"secs\":{ahead},\"nanos\":0}},\"at\":{ahead}000}}\n"
        ),
    )
    .unwrap();
    let policy = EXACT.max(u32::MAX).backoff(Backoff::Fixed).base(secs(10));
    let call = Durable::new(policy.deadline(secs(35))).on(is_busy);
    let (started, journal) = (Instant::now(), run.open());
    let call = call.call(&journal, "charge", async || server.post());
    assert!(timeout(secs(60), call).await.unwrap().is_err());
    assert_eq!(started.elapsed(), secs(30));
    assert_eq!(server.requests.load(SeqCst), 4);
}

/// Kinds and hints in policies and keys, with a restart in the middle of each pause.
#[tokio::test(start_paused = true)]
async fn hints_sections_and_idempotent_hold_across_restarts() {
    const HOUR: Duration = secs(3600);
    let patient = EXACT.max(u32::MAX).cap(secs(600)).max_hint(HOUR * 2);
    let throttled = Section::new().max(1).base(secs(8));
    let hint = Verdict::THROTTLED.after(HOUR);
    let table = [
        (EXACT, true, hint, vec![], "hint too long"),
        (
            patient.deadline(HOUR * 3),
            true,
            hint,
            vec![HOUR; 3],
            "deadline",
        ),
        (
            EXACT.throttled(throttled),
            true,
            Verdict::THROTTLED,
            vec![secs(8)],
            "exhausted",
        ),
        (EXACT, false, Verdict::TIMEOUT, vec![], "ambiguous"),
        (
            EXACT.max(2),
            false,
            Verdict::TRANSIENT,
            vec![secs(1), secs(2)],
            "exhausted",
        ),
    ];
    for (policy, idempotent, verdict, pauses, reason) in table {
        let (run, server, clock) = (Run::new(), Server::failing(9), Instant::now());
        let recording = testing::record();
        let program = async || {
            let engine = OneClock {
                journal: run.open(),
                clock,
                ahead: Duration::ZERO,
                sleeps: true,
            };
            let call = Durable::new(policy).on(|_: &String| verdict);
            let call = call.idempotent(idempotent);
            call.call(&engine, "charge", async || server.post()).await
        };
        let life = pauses.first().map_or(secs(1), |pause| *pause / 2);
        let ended = loop {
            if let Ok(ended) = timeout(life, program()).await {
                break ended;
            }
        };
        assert!(matches!(ended, Err(DurableError::GaveUp(_))), "{reason}");
        assert_eq!(recording.delays(), pauses, "{reason}");
        assert_eq!(clock.elapsed(), pauses.iter().sum(), "{reason}");
        let (requests, lines) = (server.requests.load(SeqCst), recording.lines());
        assert_eq!(requests as usize, pauses.len() + 1, "{reason}");
        let end = lines.last().unwrap();
        assert!(end.ends_with(&format!("reason={reason}")), "{lines:?}");
    }
}

/// An observer gets each event once, and each record has the `max` that applied.
#[tokio::test(start_paused = true)]
async fn observers_get_each_event_once_across_restarts() {
    let (run, server, recorder) = (Run::new(), Server::failing(2), Recorder::new());
    let recording = testing::record();
    let policy = EXACT.throttled(Section::new().max(7).base(secs(1)));
    let program = async || {
        let journal = run.open();
        let call = Durable::new(policy)
            .on(|_: &String| Verdict::THROTTLED)
            .show(fmt::Display::fmt)
            .observe(&recorder);
        call.call(&journal, "charge", async || server.post()).await
    };
    assert!(
        timeout(Duration::from_millis(1500), program())
            .await
            .is_err()
    );
    for _ in 0..2 {
        assert_eq!(program().await.unwrap(), 2);
    }
    let lines = [
        "retrying charge attempt=1 max=3 retry=1 retry_max=7 delay=1s error=503 number 0 reason=throttled",
        "retrying charge attempt=2 max=3 retry=2 retry_max=7 delay=2s error=503 number 1 reason=throttled",
        "succeeded charge attempt=3 max=3",
    ];
    assert_eq!(recording.lines(), lines);
    let [first, second, last] = lines;
    let starting = |number| format!("starting charge attempt={number}");
    assert_eq!(
        recorder.lines(),
        [
            &starting(1),
            first,
            &starting(2),
            second,
            &starting(3),
            last
        ]
    );
}
