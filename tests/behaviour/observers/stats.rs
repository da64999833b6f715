//! The counts of `Stats`.

use futures::stream::{self, Stream, StreamExt};
use retry_observers::{Stats, Totals};
use retry_runtime::testing::{Recorder, Script, sequence};
use support::prelude::*;

use crate::observers::verdict;

const SECOND: Duration = Duration::from_secs(1);

#[retry(max = 2, backoff = "fixed", jitter = "none", observe = stats, on = verdict)]
async fn fetch(stats: &Stats, script: &Script<u32, &'static str>) -> Result<u32, &'static str> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_how_they_end() {
    let stats = Stats::new();
    for outcomes in [
        vec![Ok(1)],
        vec![Err("busy"), Err("slow down"), Ok(1)],
        vec![Err("busy"), Err("busy"), Err("busy")],
        vec![Err("busy"), Err("unauthorized")],
        vec![Err("forbidden")],
    ] {
        let _ = fetch(&stats, &sequence(outcomes)).await;
    }
    let totals = stats.totals();
    assert_eq!(totals.calls(), 5);
    assert_eq!((totals.succeeded, totals.recovered), (2, 1));
    assert_eq!(totals.gave_up(), 3);
    assert_eq!(totals.gave_up_for(Reason::Exhausted), 1);
    assert_eq!(totals.gave_up_for(Reason::NotRetryable), 2);
    assert_eq!(totals.gave_up_for(Reason::Deadline), 0);
    assert_eq!((totals.attempts, totals.retries), (10, 5));
    assert_eq!(totals.paused, 5 * SECOND);
    assert_eq!(totals.last_error.as_deref(), Some("forbidden"));
    assert_eq!(
        totals.to_string(),
        "5 calls, 10 attempts, 5 retries; 1 recovered; \
         3 gave up (2 not retryable, 1 exhausted); last error: forbidden"
    );
    assert_eq!(stats.take(), totals);
    assert_eq!(stats.totals(), Totals::default());
}

#[tokio::test(start_paused = true)]
async fn corrections_hedges_and_fallbacks_are_counted() {
    scripted! {
        #[retry(max = 1, backoff = "none", observe = stats, on = verdict,
            fallback = |_: GaveUp<&'static str>| async { Ok(0) })]
        async fn falls_back(stats: &Stats) -> Result<u32, &'static str> = Err("busy");
        #[retry(max = 2, backoff = "none", observe = stats, on = verdict,
            validate = |value: &u32| if *value < 3 { Err("small") } else { Ok(()) },
            correct = async |value, _: &&'static str| Ok(value + 1))]
        async fn corrected(stats: &Stats) -> Result<u32, &'static str> = Ok(1);
        #[retry(max = 2, hedge = "1s", observe = stats, on = verdict, idempotent = true)]
        async fn slow(stats: &Stats) -> Result<u32, &'static str> = { sleep(SECOND * 5 / 2).await; Ok(1) };
    }

    let stats = &Stats::new();
    for _ in 0..2 {
        assert_eq!(falls_back(stats).await, Ok(0));
    }
    let totals = stats.take();
    assert_eq!(totals.fell_back, 2);
    let expected = "2 calls, 4 attempts, 2 retries; 2 fell back; last error: busy";
    assert_eq!(totals.to_string(), expected);
    assert_eq!(corrected(stats).await, Ok(3));
    let totals = stats.take();
    assert_eq!(totals.corrections, 2);
    let expected = "1 call, 1 attempt, 0 retries; 2 corrected; 1 recovered; last error: small";
    assert_eq!(totals.to_string(), expected);
    assert_eq!(slow(stats).await, Ok(1));
    let expected = "1 call, 3 attempts, 0 retries; 2 hedged";
    assert_eq!(stats.take().to_string(), expected);
}

/// Runs a batch with these items and the given results for each round.
async fn batch(stats: &Stats, rounds: &[&[Result<(), &'static str>]]) -> String {
    let (recorder, round) = (Recorder::new(), Cell::new(0));
    let policy = Policy::fixed(SECOND).jitter(Jitter::None).max(2);
    let call = policy.on(verdict).show(fmt::Display::fmt).name("batch");
    let batches = call.observe(|event| (stats, &recorder).observe(event));
    let _ = retry_each(batches, rounds[0], async |pending: Vec<_>| {
        let answers = rounds[round.replace(round.get() + 1)];
        assert_eq!(pending.len(), answers.len());
        Ok(answers.to_vec())
    })
    .await;
    recorder.lines().pop().expect("an end")
}

#[tokio::test(start_paused = true)]
async fn a_batch_counts_as_one_call() {
    let stats = &Stats::new();
    // Two sorts of failure wait together.
    let start = Instant::now();
    let recovered = batch(
        stats,
        &[&[Err("busy"), Err("slow down"), Ok(())], &[Ok(()); 2]],
    );
    assert_eq!(recovered.await, "succeeded batch attempt=2 max=2");
    let totals = stats.take();
    assert_eq!((totals.paused, start.elapsed()), (SECOND, SECOND));
    let expected = "1 call, 2 attempts, 1 retry; 1 recovered; last error: 1 of 3 items: slow down";
    assert_eq!(totals.to_string(), expected);

    // One is lost at once, another at last.
    let rounds: [&[_]; 3] = [
        &[Err("gone"), Err("busy"), Err("busy"), Ok(())],
        &[Err("busy"), Ok(())],
        &[Err("busy")],
    ];
    let end = "gave up batch attempt=3 max=2 error=2 of 4 items: busy reason=exhausted";
    assert_eq!(batch(stats, &rounds).await, end);
    assert_eq!(
        stats.take().to_string(),
        "1 call, 3 attempts, 2 retries; 1 gave up (1 exhausted); last error: 2 of 4 items: busy"
    );
}

/// Yields an item and breaks, a number of times, and then breaks at once.
#[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt, observe = (stats, recorder), on = verdict)]
fn feed(
    stats: &Stats,
    recorder: &Recorder,
    attempts: u32,
    last: Option<u32>,
) -> impl Stream<Item = Result<u32, &'static str>> {
    let (number, broke) = (attempt.number(), Err("busy"));
    stream::iter(match last {
        _ if number < attempts => vec![Ok(number), broke],
        Some(last) => vec![Ok(last)],
        None => vec![broke],
    })
}

#[tokio::test]
async fn all_attempts_of_a_resumed_stream_count() {
    for (last, end, attempts) in [
        (Some(6), "6 attempts, 5 retries; 1 recovered", 6),
        (None, "6 attempts, 5 retries; 1 gave up (1 exhausted)", 6),
    ] {
        let (stats, recorder) = (Stats::new(), Recorder::new());
        feed(&stats, &recorder, 6, last).count().await;
        assert_eq!(
            stats.totals().to_string(),
            format!("1 call, {end}; last error: busy")
        );
        assert_eq!(recorder.attempts(), [attempts]);
    }
}
