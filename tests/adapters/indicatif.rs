//! The observer `Progress`, tested by its output on an in-memory terminal.

#[allow(dead_code, reason = "its `main`")]
#[path = "../../examples/progress.rs"]
mod progress;

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use indicatif::{InMemoryTerm, ProgressBar, ProgressDrawTarget};
use retry_observers::Progress;
use retry_runtime::testing::{Script, fail_times};
use retry_runtime::{Event, EventData, Jitter, Observer, Policy, retry};
use retry_work::{IntoBatches, retry_each};
use tokio::time::{Instant, sleep};

#[retry(max = 2, base = "8s", cap = "1m", jitter = "none", name = "fetch", observe = progress, on = |_| true)]
async fn fetch(server: &Script<(), String>, progress: &Progress) -> Result<(), String> {
    server.next()
}

fn progress(terminal: &InMemoryTerm, template: &str) -> Progress {
    let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
    let bar = ProgressBar::with_draw_target(Some(3), target);
    Progress::on(bar, template).expect("a template")
}

#[tokio::test(start_paused = true)]
async fn the_spinner_shows_the_reason_for_a_wait() {
    let terminal = InMemoryTerm::new(10, 80);
    let progress = progress(&terminal, "{pos}/{len} {retry}");
    let start = Instant::now();
    let server = fail_times(3, String::from("503 overloaded"));
    let mut seen = Vec::new();
    let mut call = std::pin::pin!(fetch(&server, &progress));
    for _ in 0..20 {
        tokio::select! {
            biased;
            ended = &mut call => {
                assert!(ended.is_err());
                break;
            }
            () = sleep(Duration::from_secs(7)) => seen.push(terminal.contents()),
        }
    }
    seen.push(terminal.contents());
    seen.dedup();
    assert_eq!(
        seen,
        [
            "0/3 retrying in 8 s (1/2): 503 overloaded",
            "0/3 retrying in 16 s (2/2): 503 overloaded",
            "0/3 gave up (exhausted): 503 overloaded",
        ]
    );
    assert_eq!(start.elapsed(), Duration::from_secs(24));
    let server = fail_times(0, String::new());
    assert_eq!(fetch(&server, &progress).await, Ok(()));
    assert_eq!(terminal.contents(), "0/3");
}

/// The bar draws in real time, so earlier texts are overwritten.
#[test]
fn the_spinner_counts_down() {
    let terminal = InMemoryTerm::new(10, 80);
    let progress = progress(&terminal, "{retry}");
    let retrying = EventData::Retrying {
        retry: 1,
        retry_max: None,
        max: None,
        delay: Duration::from_nanos(1),
        error: &"busy",
        kind: retry_runtime::Kind::Transient,
    };
    progress.observe(&Event::new("fetch", 1, retrying));
    while terminal.contents() != "retrying in 0 s (1/unlimited): busy" {
        progress.bar().tick();
    }
}

#[test]
fn no_spinner_without_a_terminal() {
    let terminal = InMemoryTerm::new(10, 80);
    let progress = progress(&terminal, "{retry}");
    progress.bar().set_draw_target(ProgressDrawTarget::hidden());
    let succeeded = EventData::Succeeded {
        attempts: 1,
        corrections: 0,
        max: None,
    };
    progress.observe(&Event::new("fetch", 1, succeeded));
    assert_eq!(terminal.contents(), "");
}

const COUNTS: &str = "{bar:4} {pos}/{len}: {done} done, {failed} failed, {waiting} waiting {retry}";

#[tokio::test(start_paused = true)]
async fn a_batch_is_a_bar_of_its_items() {
    let terminal = InMemoryTerm::new(10, 120);
    let progress = progress(&terminal, COUNTS);
    let seen = RefCell::new(Vec::new());
    let batches = Policy::fixed(Duration::from_secs(8))
        .jitter(Jitter::None)
        .max(1)
        .on(|error: &&str| *error == "busy")
        .show(fmt::Display::fmt)
        .observe(|event: &Event<'_>| {
            progress.observe(event);
            seen.borrow_mut().push(terminal.contents());
        })
        .batches(2);
    let results = retry_each(batches, 0..4, async |pending| {
        let answer = |number| match (number, seen.borrow().len()) {
            (1, ..3) => Err("busy"),
            (2, _) => Err("gone"),
            _ => Ok(()),
        };
        Ok(pending.into_iter().map(answer).collect())
    });
    assert_eq!(results.await.iter().flatten().count(), 3);
    assert_eq!(
        seen.into_inner(),
        [
            "░░░░ 0/3: 0 done, 0 failed, 0 waiting",
            "░░░░ 0/4: 0 done, 0 failed, 4 waiting",
            "█░░░ 1/4: 1 done, 0 failed, 3 waiting",
            "██░░ 2/4: 2 done, 0 failed, 2 waiting",
            "███░ 3/4: 2 done, 1 failed, 1 waiting",
            "███░ 3/4: 2 done, 1 failed, 1 waiting",
            "███░ 3/4: 2 done, 1 failed, 1 waiting retrying in 8 s (1/1): 1 of 4 items: busy",
            "███░ 3/4: 2 done, 1 failed, 1 waiting",
            "████ 4/4: 3 done, 1 failed, 0 waiting",
            "████ 4/4: 3 done, 1 failed, 0 waiting gave up (not retryable): 1 of 4 items: gone",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_example_shows_all_counts_at_its_end() {
    let terminal = InMemoryTerm::new(10, 120);
    let line = progress(&terminal, "{retry}");
    assert_eq!(progress::call(&line).await, Ok(()));
    drop(line);
    let bar = progress(&terminal, COUNTS);
    assert_eq!(progress::batch(&bar).await, 97);
    let all = "████ 100/100: 97 done, 3 failed, 0 waiting \
        gave up (not retryable): 3 of 100 items: 404 gone";
    assert_eq!(terminal.contents(), all);
    drop(bar);
    let bar = progress(&terminal, COUNTS);
    let end = progress::plan(&bar).await.expect("a plan that can run");
    assert!(end.is_valid(), "{end}");
    let blocked = "███░ 6/7: 5 done, 1 failed, 1 waiting";
    assert_eq!(terminal.contents(), blocked);
}
