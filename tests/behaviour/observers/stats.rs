//! The counts of `Stats`.

use futures::stream::{self, Stream, StreamExt};
use retry_observers::{Stats, Totals};
use retry_runtime::testing::{Recorder, Script, fail_times, sequence};
use support::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
struct Failed(&'static str);

fn verdict(error: &Failed) -> Verdict {
    match error.0 {
        "busy" => Verdict::TRANSIENT,
        "throttled" => Verdict::THROTTLED,
        _ => Verdict::STOP,
    }
}

#[retry(max = 2, backoff = "fixed", jitter = "none", observe = stats, on = verdict)]
async fn fetch(stats: &Stats, script: &Script<u32, Failed>) -> Result<u32, Failed> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_how_they_end() {
    let stats = Stats::new();
    for outcomes in [
        vec![Ok(1)],
        vec![Err("busy"), Err("throttled"), Ok(1)],
        vec![Err("busy"), Err("busy"), Err("busy")],
        vec![Err("busy"), Err("unauthorized")],
        vec![Err("forbidden")],
    ] {
        let outcomes = outcomes.into_iter();
        let script = sequence(outcomes.map(|outcome| outcome.map_err(Failed)));
        let _ = fetch(&stats, &script).await;
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
        #[retry(max = 1, backoff = "none", observe = stats, on = verdict, fallback = |_: GaveUp<Failed>| async { Ok(0) })]
        async fn falls_back(stats: &Stats) -> Result<u32, Failed> = Err(Failed("busy"));
        #[retry(max = 2, backoff = "none", observe = stats, on = verdict,
            validate = |value: &u32| if *value < 3 { Err(Failed("small")) } else { Ok(()) },
            correct = async |value, _: &Failed| Ok(value + 1))]
        async fn corrected(stats: &Stats) -> Result<u32, Failed> = Ok(1);
        #[retry(max = 2, hedge = "1s", observe = stats, on = verdict, idempotent = true)]
        async fn slow(stats: &Stats) -> Result<u32, Failed> = { sleep(SECOND * 5 / 2).await; Ok(1) };
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
        Ok(answers
            .iter()
            .map(|answer| answer.map_err(Failed))
            .collect())
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
        &[&[Err("busy"), Err("throttled"), Ok(())], &[Ok(()); 2]],
    );
    assert_eq!(recovered.await, "succeeded batch attempt=2 max=2");
    let totals = stats.take();
    assert_eq!((totals.paused, start.elapsed()), (SECOND, SECOND));
    let expected = "1 call, 2 attempts, 1 retry; 1 recovered; last error: 1 of 3 items: throttled";
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

    // One is lost, and the others succeed after it.
    let end = "gave up batch attempt=2 max=2 error=1 of 2 items: gone reason=not retryable";
    let rounds: [&[_]; 2] = [&[Err("gone"), Err("busy")], &[Ok(())]];
    assert_eq!(batch(stats, &rounds).await, end);
    assert_eq!(
        stats.take().to_string(),
        "1 call, 2 attempts, 1 retry; 1 gave up (1 not retryable); last error: 1 of 2 items: gone"
    );
}

/// Yields an item and breaks, a number of times, and then breaks at once.
#[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt, observe = (stats, recorder), on = verdict)]
fn feed(
    stats: &Stats,
    recorder: &Recorder,
    attempts: u32,
    last: Option<u32>,
) -> impl Stream<Item = Result<u32, Failed>> {
    let (number, broke) = (attempt.number(), Err(Failed("busy")));
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

#[test]
fn every_reason_is_counted_under_its_name() {
    for reason in [
        Reason::NotRetryable,
        Reason::Exhausted,
        Reason::Deadline,
        Reason::HintTooLong,
        Reason::Ambiguous,
        Reason::Unrepeatable,
        Reason::Repeated,
        Reason::Budget,
        Reason::Rejected,
        Reason::Cancelled,
        Reason::CorrectionFailed,
        Reason::FallbackFailed,
        Reason::Unanswered,
    ] {
        let stats = Stats::new();
        let gave_up = EventData::GaveUp {
            attempts: 1,
            corrections: 0,
            max: None,
            error: &"busy",
            ended: None,
            reason,
        };
        stats.observe(&Event::new("fetch", 1, gave_up));
        let totals = stats.totals();
        assert_eq!((totals.gave_up_for(reason), totals.gave_up()), (1, 1));
        assert_eq!(
            totals.to_string(),
            format!("1 call, 1 attempt, 0 retries; 1 gave up (1 {reason}); last error: busy")
        );
    }
}

#[test]
fn two_counts_of_one_call_may_be_kept() {
    let (all, own) = (Stats::new(), Stats::new());
    for failures in [0, 1, 2] {
        let script = fail_times(failures, Failed("busy"));
        let policy = Policy::none().max(1);
        let call = policy.on(verdict).show(fmt::Display::fmt);
        let call = call.observe(|event| (&all, &own).observe(event));
        let _ = call.call_blocking(|| script.next());
        assert_eq!(own.take().calls(), 1);
    }
    let sum = all.totals();
    assert_eq!(sum.last_error.as_deref(), Some("busy"));
    assert_eq!((sum.calls(), sum.attempts, sum.retries), (3, 5, 2));
    assert_eq!((sum.recovered, sum.gave_up_for(Reason::Exhausted)), (1, 1));
}
