//! The file, and the names of its steps.

use std::collections::HashMap;
use std::fs;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use retry_durable::{Durable, DurableError, Engine, Journal, JournalError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::join;
use tokio::time::{Instant, sleep, timeout};

use crate::run::Run;
use crate::server::{Turns, is_busy};
use crate::{EXACT, secs};

#[tokio::test]
async fn a_file_that_is_not_a_journal_is_rejected() {
    let run = Run::new();
    let journal = run.open();
    assert!(matches!(Journal::open(&run.path), Err(JournalError::InUse)));
    let one = async { String::from("one") };
    journal.step("text", one).await.unwrap();
    drop(journal);
    let journal = run.open();
    let number = journal.step("text", async { 1 }).await.unwrap_err();
    let number = number.to_string();
    assert!(
        number.starts_with("the result of step `text`: "),
        "{number}"
    );
    drop(journal);
    for text in ["{}\n", "[server]\nport = 80", "port = 80", "\0\0\0"] {
        fs::write(&run.path, text).unwrap();
        let damaged = Journal::open(&run.path).unwrap_err();
        assert_eq!(
            damaged.to_string(),
            "line 1 of the journal is damaged, or the file is not a journal: restore a backup, or check what the \
             steps did and move the file away, so that every step runs again"
        );
        assert_eq!(fs::read_to_string(&run.path).unwrap(), text);
    }
    fs::write(
        &run.path,
        "{\"check\":\"2cb7b9ff\",\"journal\":2,\"kept\":\"0000000000000061\"}\n",
    )
    .unwrap();
    let later = Journal::open(&run.path).unwrap_err();
    assert!(matches!(later, JournalError::Version(2)), "{later}");
}

/// Files in the old format without checksums: with a partial last line, and continued by a journal.
#[tokio::test]
async fn a_journal_without_checksums_is_converted() {
    let run = Run::new();
    let lines = "{\"step\":\"one\",\"result\":1}\n{\"step\":\"two\",\"result\":2}\n";
    fs::write(&run.path, format!("{lines}{{\"step\":\"thr")).unwrap();
    for three in [3, 0] {
        let journal = run.open();
        assert_eq!(journal.step("one", async { 0 }).await.unwrap(), 1);
        assert_eq!(journal.step("three", async { three }).await.unwrap(), 3);
        assert_eq!(journal.unasked(), ["two"]);
        assert!(matches!(Journal::open(&run.path), Err(JournalError::InUse)));
    }
    let kept = fs::read_to_string(&run.path).unwrap();
    assert!(kept.starts_with("{\"check\":\""), "{kept}");
    assert_eq!(kept.lines().count(), 4);
    fs::write(&run.path, format!("{lines}port = 80\n")).unwrap();
    let damaged = Journal::open(&run.path).unwrap_err();
    assert!(matches!(damaged, JournalError::Damaged { line: 3 }));
}

/// A JSON text from elsewhere that the program stores unchanged.
#[tokio::test]
async fn a_result_with_line_breaks_is_one_line() {
    let run = Run::new();
    let pretty = "[\n  1\n]";
    for _ in 0..2 {
        let result = async { RawValue::from_string(pretty.to_owned()).unwrap() };
        let kept = run.open().step("raw", result).await.unwrap();
        let kept: [u32; 1] = serde_json::from_str(kept.get()).unwrap();
        assert_eq!(kept, [1]);
    }
}

/// With any change of the clock, it isn't repeated when the program runs again.
#[tokio::test(start_paused = true)]
async fn a_pause_that_is_over_stays_over() {
    let run = Run::new();
    let slept = async || {
        let before = Instant::now();
        run.open().sleep("pause", secs(60)).await.unwrap();
        before.elapsed()
    };
    assert_eq!(slept().await, secs(60));
    // The clock had been set ahead by nine hundred million seconds.
    fs::write(
        &run.path,
        "{\"step\":\"pause\",\"result\":{\"secs\":2600000000,\"nanos\":0}}\n\
         {\"step\":\"pause: over\",\"result\":null}\n",
    )
    .unwrap();
    assert_eq!(slept().await, secs(0));
}

/// Checked before the first attempt, because the first pause may be much later.
#[test]
#[should_panic(expected = "timers are disabled")]
fn no_attempt_is_made_without_a_timer() {
    let run = Run::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let journal = run.open();
    let step = journal.step("one", async { unreachable!("it is attempted") });
    let _: Result<u32, _> = runtime.unwrap().block_on(step);
}

/// Floats are read back exactly.
#[tokio::test]
async fn numbers_are_read_back_exactly() {
    let run = Run::new();
    let journal = run.open();
    for number in 1..300 {
        let (name, part) = (number.to_string(), f64::from(number) / 3.7);
        let kept = journal.step(&name, async { part }).await.unwrap();
        assert_eq!(kept.to_bits(), part.to_bits());
    }
}

/// Checked before the first attempt, because the first pause may be much later.
#[test]
fn no_attempt_is_made_outside_a_tokio_runtime() {
    let run = Run::new();
    let journal = run.open();
    let attempts = AtomicU32::new(0);
    let attempt = async || {
        attempts.fetch_add(1, SeqCst);
        Ok::<_, String>(7)
    };
    let call = Durable::new(EXACT)
        .on(is_busy)
        .call(&journal, "call", attempt);
    let Poll::Ready(Err(without)) = pin!(call).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("an error at once");
    };
    assert_eq!(
        without.to_string(),
        "the journal needs tokio's timer, but there is no tokio runtime: use it inside one, as under \
         `#[tokio::main]`"
    );
    assert_eq!(attempts.load(SeqCst), 0);
    // No data was lost.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let call = Durable::new(EXACT)
        .on(is_busy)
        .call(&journal, "call", attempt);
    assert_eq!(runtime.unwrap().block_on(call).unwrap(), 7);
}

/// Concurrently and one after the other, for steps and for calls.
#[tokio::test]
async fn a_second_step_with_the_same_name_is_rejected() {
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
            assert_eq!(
                twice,
                "two steps of one run are named `same`: give each a unique name; to run again, open the journal again"
            );
            let twice = charges.1.unwrap_err().to_string();
            assert!(twice.contains("`charge: begun`"), "{twice}");
        }
        assert_eq!(runs.load(SeqCst), 2);
    }
}

/// A dropped step doesn't count, so another one may have the same name.
#[tokio::test(start_paused = true)]
async fn a_dropped_step_may_be_run_again() {
    let run = Run::new();
    let journal = run.open();
    let dropped = timeout(secs(1), journal.step("slow", sleep(secs(10))));
    assert!(dropped.await.is_err());
    journal.step("slow", sleep(secs(10))).await.unwrap();
}

/// A result that cannot be written, or not be read again, is not stored: the run continues with the next start.
#[tokio::test]
async fn a_result_that_cannot_be_read_back_is_not_stored() {
    async fn differs<T: Serialize + DeserializeOwned + Send>(odd: T, plain: T) {
        let run = Run::new();
        let refused = run.open().step("result", async { odd }).await;
        assert!(matches!(refused, Err(JournalError::Json { .. })));
        let journal = run.open();
        assert_eq!(journal.step("before", async { 1 }).await.unwrap(), 1);
        journal.step("result", async { plain }).await.unwrap();
        assert!(journal.unasked().is_empty());
    }
    let deep = |depth| (0..depth).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    differs(f64::NAN, 1.0).await;
    differs(vec![f32::INFINITY], vec![1.0]).await;
    differs(deep(200), deep(100)).await;
    differs(HashMap::from([(vec![1], 1)]), HashMap::new()).await;
    // Read back as `None`, the same in each run.
    let (run, nan) = (Run::new(), Some(f64::NAN));
    for rate in [nan, Some(1.0)] {
        assert_eq!(run.open().step("rate", async { rate }).await.unwrap(), None);
    }
}

/// Its attempt is made again at the next start, and its retry is paid for once.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_does_not_read_back_is_made_again() {
    let (run, turns, requests) = (Run::new(), Turns::default(), AtomicU32::new(0));
    let program = async || {
        let call = Durable::new(EXACT).on(|_: &f64| true).budget(&turns);
        let journal = run.open();
        let called = call.call(&journal, "rate", async || {
            match requests.fetch_add(1, SeqCst) {
                0 => Err(0.5),
                1 => Err(f64::NAN),
                2 => Ok(f64::INFINITY),
                _ => Ok(7.5),
            }
        });
        called.await
    };
    for requested in [2, 3] {
        let Err(DurableError::Engine { error, last }) = program().await else {
            panic!("{requested}");
        };
        assert!(matches!(error, JournalError::Json { .. }));
        let last = last.map(f64::to_bits);
        assert_eq!(last, Some(0.5_f64.to_bits()));
        assert_eq!(requests.load(SeqCst), requested);
        assert_eq!(turns.0.load(SeqCst), 1);
    }
    let rate = program().await.unwrap().to_bits();
    assert_eq!((rate, requests.load(SeqCst)), (7.5_f64.to_bits(), 4));
}
