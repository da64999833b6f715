//! Events contain the durations of their call and of the attempt that ended.

use futures::executor::block_on;
use retry_runtime::testing::{Script, sequence};
use support::clock::Simulated;
use support::prelude::*;

/// The durations of a call and of its attempt.
type Times = Vec<(Option<Duration>, Option<Duration>)>;

const POLICY: Policy = Policy::fixed(secs(1)).jitter(Jitter::None);

fn times<const N: usize>(times: [(u64, Option<u64>); N]) -> Times {
    let times = times.into_iter();
    let times = times.map(|(call, attempt)| (Some(secs(call)), attempt.map(secs)));
    times.collect()
}

/// Asks every event, and notes the ends.
fn note(times: &mut Times, event: &Event<'_>) {
    let seen = (event.elapsed(), event.attempt_elapsed());
    match event.data {
        EventData::Started | EventData::Waiting { .. } => assert_eq!(seen.1, None),
        EventData::Retrying { .. }
        | EventData::Correcting { .. }
        | EventData::AttemptFailed { .. }
        | EventData::FallingBack { .. }
        | EventData::FellBack { .. }
        | EventData::GaveUp { .. }
        | EventData::Succeeded { .. } => times.push(seen),
        _ => {}
    }
}

/// Attempts that take so long, and how they end.
type Server = Script<(u64, bool), Failure>;

async fn ask(server: &Server) -> Result<u64, Failure> {
    let (takes, is_ok) = server.next()?;
    sleep(secs(takes)).await;
    if is_ok { Ok(takes) } else { Err(TRANSIENT) }
}

fn failing_first() -> Server {
    sequence([Ok((3, false)), Ok((2, true))])
}

#[tokio::test(start_paused = true)]
async fn every_loop_reports_times_without_pauses() {
    scripted! {
        #[retry(policy = POLICY, on = |_| true, observe = |event| note(times, event))]
        async fn function(server: &Server, times: &mut Times) -> Result<u64, Failure> = ask(server).await;
    }

    let expected = times([(3, Some(3)), (6, Some(2))]);
    let mut seen = Times::new();
    let server = failing_first();
    assert!(function(&server, &mut seen).await.is_ok());
    assert_eq!(seen, expected);

    let (mut seen, server) = (Times::new(), failing_first());
    let chain = POLICY.on(|_: &Failure| true);
    let chain = chain.observe(|event| note(&mut seen, event));
    assert!(chain.call(async || ask(&server).await).await.is_ok());
    assert_eq!(seen, expected);

    let (mut seen, server) = (Times::new(), failing_first());
    let batches = POLICY.on(|_: &Failure| true);
    let batches = batches.observe(|event| note(&mut seen, event)).batches(2);
    let answers = retry_each(batches, [1, 2], async |items| {
        let answer = ask(&server).await?;
        Ok(items.iter().map(|_| Ok(answer)).collect())
    });
    assert!(answers.await.iter().all(Result::is_ok));
    assert_eq!(seen, expected);

    let (mut seen, server) = (Times::new(), failing_first());
    let mut plan = Plan::<u64, String>::new();
    plan.add("ask", [], async |[]| {
        ask(&server).await.map_err(|_| String::from("busy"))
    });
    let policy = POLICY.on(|_: &String| true);
    let policy = policy.observe(|event| note(&mut seen, event));
    let end = plan.run_until(policy, async |results| match results.output("ask") {
        Some(_) => Validity::Valid,
        None => Validity::Missing(vec![]),
    });
    assert!(end.await.is_ok());
    // The times of the subtask, and then of the plan.
    let twice = expected.iter().flat_map(|times| [*times; 2]);
    assert_eq!(seen, twice.collect::<Times>());
}

#[tokio::test(start_paused = true)]
async fn an_attempts_time_starts_after_its_wait() {
    static ONE: ConcurrencyLimiter = ConcurrencyLimiter::fixed(1);

    #[retry(limiter = &ONE, on = |_| true, observe = |event| note(times, event))]
    async fn function(server: &Server, times: &mut Times) -> Result<u64, Failure> {
        ask(server).await
    }

    let (mut first, mut second) = (Times::new(), Times::new());
    let server = sequence([Ok((3, true)), Ok((2, true))]);
    let answers = tokio::join!(
        function(&server, &mut first),
        function(&server, &mut second)
    );
    assert!(matches!(answers, (Ok(3), Ok(2))));
    assert_eq!(first, times([(3, Some(3))]));
    assert_eq!(second, times([(5, Some(2))]));
}

/// One call of a batch waits for admission while another one runs.
#[tokio::test(start_paused = true)]
async fn a_rejected_attempt_has_no_duration() {
    let (mut seen, limiter) = (Times::new(), ConcurrencyLimiter::fixed(1).queue(0));
    let policy = POLICY.rejected(Section::new().base(secs(3)));
    let batches = policy.on(|_: &Failure| true).limiter(&limiter);
    let batches = batches.observe(|event| note(&mut seen, event));
    let answers = retry_each(batches.batches(1).concurrency(2), [1, 2], async |_| {
        sleep(secs(2)).await;
        Ok(vec![Ok::<_, Failure>(())])
    });
    assert!(answers.await.iter().all(Result::is_ok));
    assert_eq!(seen, times([(0, None), (5, Some(5))]));
}

#[tokio::test(start_paused = true)]
async fn events_without_their_own_attempt_have_no_duration() {
    scripted! {
        #[retry(policy = POLICY, on = |_| true, validate = |answer| if *answer == 3 { Err(TRANSIENT) } else { Ok(()) },
            correct = async |_, _| { sleep(secs(4)).await; Ok(4) }, observe = |event| note(times, event))]
        async fn corrected(server: &Server, times: &mut Times) -> Result<u64, Failure> = ask(server).await;
        #[retry(max = 0, on = |_| true, fallback = async |_| { sleep(secs(4)).await; Ok(4) },
            observe = |event| note(times, event))]
        async fn falls_back(server: &Server, times: &mut Times) -> Result<u64, Failure> = ask(server).await;
        #[retry(max = 2, backoff = "fixed", jitter = "none", hedge = "1s", on = |_| Verdict::THROTTLED,
            observe = |event| note(times, event))]
        async fn hedged(server: &Server, times: &mut Times) -> Result<u64, Failure> = ask(server).await;
    }

    let (mut seen, mut fell_back) = <(Times, Times)>::default();
    let corrected = corrected(&sequence([Ok((3, true))]), &mut seen).await;
    assert!(corrected.is_ok());
    let answer = falls_back(&sequence([Ok((3, false))]), &mut fell_back).await;
    assert!(answer.is_ok());
    let expected = times([(3, Some(3)), (7, None)]);
    assert_eq!([&seen, &fell_back], [&expected; 2]);
    for (server, expected) in rows! {
        // The first attempt wins, and then the hedged one.
        [(3, true), (9, true), (9, true)], times([(3, Some(3))]);
        [(3, true), (1, true), (9, true)], times([(2, None)]);
        // Both fail, and one follows.
        [(5, false), (1, false), (2, true)], times([(2, None), (5, None), (8, Some(2))]);
    } {
        seen.clear();
        assert!(hedged(&sequence(server.map(Ok)), &mut seen).await.is_ok());
        assert_eq!(seen, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_subtask_without_a_retry_is_reported_at_once() {
    let mut seen = Times::new();
    let mut plan = Plan::<u64, String>::new();
    plan.add("refused", [], async |[]| {
        sleep(secs(1)).await;
        Err(String::from("no such page"))
    });
    plan.add("slow", [], async |[]| {
        sleep(secs(5)).await;
        Ok(5)
    });
    let policy = POLICY.on(|_: &String| false);
    let policy = policy.observe(|event| {
        if event.call.ends_with(".refused") {
            note(&mut seen, event);
        }
    });
    let end = plan.run_until(policy, async |_| Validity::Valid).await;
    assert!(end.is_ok());
    assert_eq!(seen, times([(1, Some(1))]));
}

#[test]
fn times_use_the_timers_own_clock() {
    scripted! {
        #[retry(policy = POLICY, timer = clock, on = |_| true, observe = |event| note(times, event))]
        async fn function(clock: &Simulated, server: &Server, times: &mut Times) -> Result<(u64, bool), Failure> = {
            clock.advance(secs(3));
            server.next()
        };
    }

    let (clock, mut seen) = (Simulated::new(), Times::new());
    let server = sequence([Err(TRANSIENT), Ok((3, true))]);
    assert!(block_on(function(&clock, &server, &mut seen)).is_ok());
    assert_eq!(seen, times([(3, Some(3)), (7, Some(3))]));
}

#[tokio::test(start_paused = true)]
async fn an_observer_may_read_times_only_at_the_end() {
    #[retry(policy = POLICY, on = |_| true, observe = |event| if let EventData::Succeeded { .. } = event.data {
        note(times, event);
    })]
    async fn function(server: &Server, times: &mut Times) -> Result<u64, Failure> {
        ask(server).await
    }

    let mut seen = Times::new();
    assert!(function(&failing_first(), &mut seen).await.is_ok());
    assert_eq!(seen, times([(6, Some(2))]));
}
