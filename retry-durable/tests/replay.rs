//! Programs that end at any point, and run again on the journal of before.

use std::error::Error;
use std::fs;
use std::io::{self, Read};
use std::iter::successors;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use retry_durable::{Durable, DurableError, DurablePolicy, Engine, Journal, JournalError};
use retry_runtime::{Jitter, Kind, Moment, Policy, RetryBudget, Section, Verdict, testing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::join;
use tokio::time::{Instant, sleep, sleep_until, timeout};

const EXACT: Policy = Policy::new().jitter(Jitter::None);

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A directory with the journal of one run.
struct Run {
    _directory: TempDir,
    path: PathBuf,
}

impl Run {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("run");
        Self {
            _directory: directory,
            path,
        }
    }

    fn open(&self) -> Journal {
        Journal::open(&self.path).unwrap()
    }
}

/// Fails so many times, and counts.
#[derive(Default)]
struct Server {
    failures: u32,
    requests: AtomicU32,
}

impl Server {
    fn failing(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    fn post(&self) -> Result<u32, String> {
        let before = self.requests.fetch_add(1, SeqCst);
        if before < self.failures {
            return Err(format!("503 number {before}"));
        }
        Ok(before)
    }
}

#[derive(Default)]
struct Turns(AtomicU32);

impl RetryBudget for Turns {
    fn withdraw(&self, _: Kind) -> bool {
        self.0.fetch_add(1, SeqCst);
        true
    }
    fn refund(&self, _: Kind) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[expect(
    clippy::ptr_arg,
    reason = "what `on` takes is a reference to the error"
)]
fn is_busy(error: &String) -> bool {
    error.starts_with("503")
}

/// A program that is killed after so long, and started again until it ends.
#[tokio::test(start_paused = true)]
async fn it_goes_on_wherever_it_ended() {
    // During the first pause, the second, both, at their ends.
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
        // And once more, it is the same without a request.
        assert_eq!(program().await.unwrap(), 2);
        assert_eq!(server.requests.load(SeqCst), 3);
        assert_eq!(recording.lines().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_under_way_is_made_again() {
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

/// Runs each step, and then can't keep what it came to: it fails, or never ends.
struct Forgetful {
    clock: Instant,
    fails: bool,
}

impl Engine for Forgetful {
    type Error = &'static str;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, &'static str>
    where
        S: Future<Output = T> + Send,
    {
        let result = step.await;
        match name {
            "charge: begun" => Ok(result),
            _ if self.fails => Err("the disk is full"),
            _ => std::future::pending().await,
        }
    }

    async fn sleep(&self, _: &str, pause: Duration) -> Result<(), &'static str> {
        sleep(pause).await;
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.clock.elapsed())
    }
}

/// A journal by one clock for all lives, which a test can turn: that of a journal begins with the system's.
struct OneClock {
    journal: Journal,
    clock: Instant,
    /// Or it is about to be killed as a pause begins.
    sleeps: bool,
}

impl Engine for OneClock {
    type Error = JournalError;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, JournalError>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        self.journal.step(name, step).await
    }

    async fn sleep(&self, name: &str, pause: Duration) -> Result<(), JournalError> {
        if !self.sleeps {
            return std::future::pending().await;
        }
        let end = self.step(name, async { self.clock.elapsed() + pause });
        sleep_until(self.clock + end.await?).await;
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.clock.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_paid_for_unless_the_engine_says_that_it_is_not_kept() {
    for (fails, paid) in [(true, 0), (false, 1)] {
        let engine = Forgetful {
            clock: Instant::now(),
            fails,
        };
        let (server, turns) = (Server::failing(9), Turns::default());
        let call = Durable::new(EXACT).on(is_busy).budget(&turns);
        let call = call.call(&engine, "charge", async || server.post());
        match timeout(secs(1), call).await {
            Ok(ended) => {
                let (error, last) = ("the disk is full", None);
                assert_eq!(ended, Err(DurableError::Engine { error, last }));
            }
            Err(_) => assert!(!fails),
        }
        assert_eq!(server.requests.load(SeqCst), 1);
        assert_eq!(turns.0.load(SeqCst), paid);
    }
}

/// Killed after the attempt was kept, and before its pause was begun.
#[tokio::test(start_paused = true)]
async fn a_pause_counts_from_the_attempt_before_it() {
    for (life, next) in [(3, 10), (9, 10), (15, 15)] {
        let (run, server, clock) = (Run::new(), Server::failing(1), Instant::now());
        let program = async |sleeps| {
            let call = Durable::new(EXACT.base(secs(10))).on(is_busy);
            let engine = OneClock {
                journal: run.open(),
                clock,
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

/// A journal of a run that is cancelled in that step or pause.
struct Cancelled<'a> {
    journal: Journal,
    at: &'a str,
    /// Whether the step is under way then.
    runs: bool,
}

impl Engine for Cancelled<'_> {
    type Error = String;

    async fn step<T, S>(&self, name: &str, step: S) -> Result<T, String>
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        if name != self.at {
            let kept = self.journal.step(name, step).await;
            return kept.map_err(|error| error.to_string());
        }
        if self.runs {
            step.await;
        }
        Err(String::from("cancelled"))
    }

    async fn sleep(&self, name: &str, _: Duration) -> Result<(), String> {
        self.step(name, async {}).await
    }

    fn now(&self) -> Moment {
        self.journal.now()
    }

    fn is_cancelled(error: &String) -> bool {
        error == "cancelled"
    }
}

/// One record says so, also where the program runs again, and the error of before is not lost.
#[tokio::test]
async fn a_cancelled_call_reports_its_end_once() {
    let failed = Some("503 number 0");
    // Where, whether the attempt is under way, how many fail, the records, the last error, and what was paid.
    let table = [
        (
            "pause 1",
            false,
            9,
            &["retrying 1", "gave up 1 cancelled"][..],
            failed,
            0,
        ),
        (
            "attempt 2",
            false,
            9,
            &["retrying 1", "gave up 1 cancelled"],
            failed,
            0,
        ),
        (
            "attempt 2",
            true,
            9,
            &["retrying 1", "retrying 2", "gave up 2 cancelled"],
            failed,
            1,
        ),
        (
            "attempt 2",
            true,
            1,
            &["retrying 1", "succeeded 2"],
            failed,
            1,
        ),
        ("attempt 1", false, 9, &[], None, 0),
        ("begun", false, 9, &[], None, 0),
    ];
    for (at, under_way, failures, records, last, paid) in table {
        let (run, server, turns) = (Run::new(), Server::failing(failures), Turns::default());
        let recording = testing::record();
        for runs in [under_way, false] {
            let engine = Cancelled {
                journal: run.open(),
                at: &format!("charge: {at}"),
                runs,
            };
            let call = Durable::new(EXACT).on(is_busy).budget(&turns);
            let ended = call.call(&engine, "charge", async || server.post()).await;
            let (error, last) = ("cancelled".to_owned(), last.map(str::to_owned));
            assert_eq!(ended, Err(DurableError::Engine { error, last }), "{at}");
        }
        let lines = recording.lines();
        let short = lines.iter().map(|line| {
            let attempt = line.split_once(" charge attempt=").unwrap();
            let end = if line.ends_with("reason=cancelled") {
                " cancelled"
            } else {
                ""
            };
            format!("{} {}{end}", attempt.0, &attempt.1[..1])
        });
        assert_eq!(short.collect::<Vec<_>>(), records, "{at}: {lines:?}");
        assert_eq!(turns.0.load(SeqCst), paid, "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_makes_no_pause_longer() {
    let run = Run::new();
    let journal = run.open();
    // As it was kept when the clock was ahead.
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
            sleeps: true,
        };
        let policy = EXACT
            .max(9)
            .backoff(retry_runtime::Backoff::Fixed)
            .base(secs(3));
        let call = Durable::new(policy.deadline(secs(10))).on(is_busy);
        call.call(&engine, "charge", async || server.post()).await
    };
    for _ in 0..4 {
        let _ = timeout(secs(2), program()).await;
    }
    assert!(program().await.is_err());
    assert_eq!(server.requests.load(SeqCst), 4);
    assert_eq!(started.elapsed(), secs(9));
    // Nor does an attempt begin that is late because the program did not run.
    let (run, server, turns) = (Run::new(), Server::failing(9), Turns::default());
    let program = async || {
        let engine = OneClock {
            journal: run.open(),
            clock: started,
            sleeps: true,
        };
        let call = Durable::new(EXACT.deadline(secs(10))).on(is_busy);
        let call = call.budget(&turns);
        call.call(&engine, "charge", async || server.post()).await
    };
    let _ = timeout(Duration::from_millis(500), program()).await;
    assert_eq!(turns.0.load(SeqCst), 1);
    sleep(secs(60)).await;
    let recording = testing::record();
    for _ in 0..2 {
        assert!(program().await.is_err());
        assert_eq!(server.requests.load(SeqCst), 1);
        // The retry never began.
        assert_eq!(turns.0.load(SeqCst), 0);
    }
    let line = "gave up charge attempt=1 max=3 error=alloc::string::String reason=deadline";
    assert_eq!(recording.lines(), [line]);
}

/// What a policy and its keys say of kinds and hints, with a restart in the middle of each pause.
#[tokio::test(start_paused = true)]
async fn hints_sections_and_idempotent_hold_across_restarts() {
    const HOUR: Duration = secs(3600);
    let patient = EXACT.unlimited().cap(secs(600)).max_hint(HOUR * 2);
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

#[tokio::test(start_paused = true)]
async fn a_call_says_that_it_ignores_the_timeout() {
    let run = Run::new();
    let recording = testing::record();
    for _ in 0..2 {
        let journal = run.open();
        let call = Durable::new(EXACT.timeout(secs(1))).on(is_busy);
        let hung = async || {
            sleep(secs(60)).await;
            Ok::<_, String>(7)
        };
        assert_eq!(call.call(&journal, "hang", hung).await.unwrap(), 7);
        let lines = recording.lines();
        let told = "ignoring the policy's timeout hang reason=";
        assert!(lines[0].starts_with(told), "{lines:?}");
        assert_eq!(lines.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_alone_goes_by_classify() {
    let run = Run::new();
    let failures = AtomicU32::new(0);
    let journal = run.open();
    let outcome = EXACT.durable(&journal, "read", async || {
        failures.fetch_add(1, SeqCst);
        Err::<(), _>(Refused)
    });
    assert!(matches!(outcome.await, Err(DurableError::GaveUp(Refused))));
    assert_eq!(failures.load(SeqCst), 4);
}

#[derive(Debug, retry_runtime::Classify, serde::Serialize, serde::Deserialize)]
#[classify(transient)]
struct Refused;

#[tokio::test]
async fn two_calls_of_a_run_keep_apart_and_may_run_at_once() {
    let run = Run::new();
    for _ in 0..2 {
        let journal = run.open();
        let call = |value: u32| {
            let call = Durable::new(EXACT).on(is_busy);
            let name = format!("call {value}");
            let journal = &journal;
            async move {
                call.call(journal, &name, async || Ok::<_, String>(value))
                    .await
            }
        };
        let (one, two) = join!(call(1), call(2));
        assert_eq!((one.unwrap(), two.unwrap()), (1, 2));
    }
}

#[tokio::test]
async fn a_line_that_was_being_written_is_no_step() {
    let run = Run::new();
    let journal = run.open();
    assert_eq!(journal.step("one", async { 1 }).await.unwrap(), 1);
    assert_eq!(journal.step("two", async { 2 }).await.unwrap(), 2);
    drop(journal);
    let whole = fs::read(&run.path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for torn in 0..whole.len() {
        fs::write(&run.path, &whole[..torn]).unwrap();
        let journal = run.open();
        let expected = if torn < first { 10 } else { 1 };
        assert_eq!(journal.step("one", async { 10 }).await.unwrap(), expected);
        assert_eq!(journal.step("two", async { 20 }).await.unwrap(), 20);
        drop(journal);
        let journal = run.open();
        assert_eq!(journal.step("one", async { 0 }).await.unwrap(), expected);
        assert_eq!(journal.step("two", async { 0 }).await.unwrap(), 20);
    }
}

#[tokio::test]
async fn what_is_no_journal_is_refused() {
    let run = Run::new();
    let journal = run.open();
    assert!(matches!(Journal::open(&run.path), Err(JournalError::InUse)));
    journal
        .step("text", async { String::from("one") })
        .await
        .unwrap();
    drop(journal);
    let journal = run.open();
    let number = journal.step("text", async { 1 }).await.unwrap_err();
    assert!(
        number.to_string().starts_with("the result of a step: "),
        "{number}"
    );
    drop(journal);
    fs::write(&run.path, "{}\n").unwrap();
    let damaged = Journal::open(&run.path).unwrap_err();
    assert_eq!(damaged.to_string(), "line 1 of the journal is no step");
}

#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct NoAnswer(#[source] Unplugged);

#[derive(Debug, thiserror::Error)]
#[error("unplugged")]
struct Unplugged;

/// A disk that has failed, for that reason.
struct Disk;

impl Read for Disk {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(NoAnswer(Unplugged)))
    }
}

/// A report that goes on to each cause names none twice, and leaves none out.
#[test]
fn a_report_of_a_journal_names_each_cause_once() {
    let io = Disk.read(&mut []).unwrap_err();
    let json = serde_json::from_reader::<_, u32>(Disk).unwrap_err();
    for (error, expected) in [
        (
            JournalError::from(io),
            &[
                "the journal can't be read or written: no answer",
                "unplugged",
            ][..],
        ),
        (
            JournalError::Json(json),
            &["the result of a step: no answer", "unplugged"],
        ),
        (
            JournalError::InUse,
            &["another program has opened the journal"],
        ),
    ] {
        let error: &dyn Error = &error;
        let causes = successors(Some(error), |&error| error.source());
        let report: Vec<_> = causes.map(ToString::to_string).collect();
        assert_eq!(report, expected);
    }
}

/// At once and one after the other, of steps and of calls.
#[tokio::test]
async fn of_two_steps_with_one_name_only_one_runs() {
    for at_once in [true, false] {
        let run = Run::new();
        let runs = AtomicU32::new(0);
        for _ in 0..2 {
            let journal = run.open();
            let step = || {
                journal.step("same", async {
                    tokio::task::yield_now().await;
                    runs.fetch_add(1, SeqCst)
                })
            };
            let charge = || {
                Durable::new(EXACT)
                    .on(is_busy)
                    .call(&journal, "charge", async || {
                        tokio::task::yield_now().await;
                        Ok::<_, String>(runs.fetch_add(1, SeqCst))
                    })
            };
            let (steps, charges) = if at_once {
                (join!(step(), step()), join!(charge(), charge()))
            } else {
                (
                    (step().await, step().await),
                    (charge().await, charge().await),
                )
            };
            assert_eq!((steps.0.unwrap(), charges.0.unwrap()), (0, 1));
            let twice = steps.1.unwrap_err().to_string();
            assert_eq!(twice, "two steps of one run are named `same`");
            let twice = charges.1.unwrap_err().to_string();
            assert!(twice.contains("`charge: begun`"), "{twice}");
        }
        assert_eq!(runs.load(SeqCst), 2);
    }
}

/// One that was dropped is no step, and another of its name is not its double.
#[tokio::test(start_paused = true)]
async fn a_step_that_is_dropped_may_be_asked_for_again() {
    let run = Run::new();
    let journal = run.open();
    let dropped = timeout(secs(1), journal.step("slow", sleep(secs(10))));
    assert!(dropped.await.is_err());
    journal.step("slow", sleep(secs(10))).await.unwrap();
}

/// What cannot be read is kept, so that nothing happens twice until the program can read it.
#[tokio::test]
async fn a_result_that_does_not_read_back_is_kept() {
    let run = Run::new();
    let runs = AtomicU32::new(0);
    for _ in 0..2 {
        let journal = run.open();
        let rate = journal.step("rate", async {
            runs.fetch_add(1, SeqCst);
            f64::NAN
        });
        assert!(matches!(rate.await, Err(JournalError::Json(_))));
    }
    assert_eq!(runs.load(SeqCst), 1);
    let rate: Option<f64> = run.open().step("rate", async { Some(1.0) }).await.unwrap();
    assert_eq!(rate, None);
}
