//! The observer `Progress`, by what a terminal in memory shows.

use std::time::Duration;

use indicatif::{InMemoryTerm, ProgressBar, ProgressDrawTarget};
use retry_runtime::observers::Progress;
use retry_runtime::testing::{Script, fail_times};
use retry_runtime::{Event, Observer, retry};
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
async fn it_says_what_a_call_waits_for() {
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
    assert!(
        fetch(&fail_times(0, String::new()), &progress)
            .await
            .is_ok()
    );
    assert_eq!(terminal.contents(), "0/3");
}

/// The bar draws in real time, so what it says of a moment ago is gone.
#[test]
fn it_counts_down() {
    let terminal = InMemoryTerm::new(10, 80);
    let progress = progress(&terminal, "{retry}");
    let event = Event::Retrying {
        call: "fetch",
        attempt: 1,
        max: None,
        delay: Duration::from_nanos(1),
        error: &"busy",
        kind: retry_runtime::Kind::Transient,
    };
    progress.observe(&event);
    while terminal.contents() != "retrying in 0 s (1/unlimited): busy" {
        progress.bar().tick();
    }
}

#[test]
fn nothing_is_drawn_where_there_is_no_terminal() {
    let terminal = InMemoryTerm::new(10, 80);
    let progress = progress(&terminal, "{retry}");
    progress.bar().set_draw_target(ProgressDrawTarget::hidden());
    let event = Event::Succeeded {
        call: "fetch",
        attempt: 1,
        corrections: 0,
        max: None,
    };
    progress.observe(&event);
    assert_eq!(terminal.contents(), "");
}
