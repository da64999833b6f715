//! `attempt.progress()`: the retry count restarts, and the delays depend on the length of the attempt.

use futures::{StreamExt, pin_mut, stream};
use retry_runtime::Attempt;
use support::prelude::*;

/// The length of an attempt in seconds, and the time of its progress.
type Step = (u64, Option<u64>);

#[derive(Default)]
struct Steps(RefCell<Vec<Step>>);

impl Steps {
    async fn next<K>(&self, attempt: &Attempt<Failure, K>) -> Result<(), Failure> {
        let Some((lasts, progress)) = self.0.borrow_mut().pop() else {
            return Ok(());
        };
        match progress {
            Some(0) => attempt.progress(),
            Some(after) => attempt.progress_after(secs(after)),
            None => {}
        }
        sleep(secs(lasts)).await;
        Err(TRANSIENT)
    }
}

#[retry(max = 3, backoff = "linear", base = "2s", jitter = "none", attempt = attempt)]
async fn function(steps: &Steps) -> Result<(), Failure> {
    steps.next(attempt).await
}

const POLICY: Policy = Policy::new()
    .max(3)
    .backoff(Backoff::Linear)
    .base(secs(2))
    .jitter(Jitter::None);

async fn chain(steps: &Steps) -> Result<(), Failure> {
    POLICY
        .on(|_: &Failure| true)
        .call_attempt(async |attempt| steps.next(&attempt).await)
        .await
}

/// The steps, the delays in seconds, and the outcome.
type Case = (&'static [Step], &'static [u64], Result<(), Failure>);

#[tokio::test(start_paused = true)]
async fn progress_restarts_the_retry_count() {
    async fn ran(
        steps: &[Step],
        call: impl AsyncFnOnce(&Steps) -> Result<(), Failure>,
    ) -> (Result<(), Failure>, Vec<Duration>) {
        let recording = testing::record();
        let steps = Steps(RefCell::new(steps.iter().rev().copied().collect()));
        (call(&steps).await, recording.delays())
    }

    let out_of_retries = Err(TRANSIENT);
    let cases: &[Case] = &rows! {
        // Without progress.
        &[(1, None); 4], &[2, 4, 6], out_of_retries.clone();
        // Each attempt outlasts the pause before it.
        &[(9, Some(0)); 5], &[2; 5], Ok(());
        // None does.
        &[(1, Some(0)); 4], &[2, 4, 6, 8], Ok(());
        // Progress is that of one attempt.
        &[(9, Some(0)), (1, None), (1, None), (1, None)], &[2, 4, 6], out_of_retries.clone();
        // A fixed time decides, for any length of the pause.
        &[(1, Some(120)), (1, Some(120)), (119, Some(120)), (120, Some(120)), (121, Some(120))],
            &[2, 4, 6, 2, 2], Ok(());
        &[(119, Some(120)); 4], &[2, 4, 6], out_of_retries;
    };
    for (steps, delays, outcome) in cases {
        let delays = delays.iter().map(|delay| secs(*delay)).collect();
        let expected = (outcome.clone(), delays);
        assert_eq!(ran(steps, function).await, expected, "{steps:?}");
        assert_eq!(ran(steps, chain).await, expected, "{steps:?} in a chain");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_may_report_progress_for_the_next_attempt() {
    scripted! {
        #[retry(max = 1, base = "2s", jitter = "none", attempt = attempt, before_retry = async |_, _| {
            if trims.pop().is_some() {
                attempt.progress();
            }
        })]
        async fn call(trims: &mut Vec<()>) = Err(TRANSIENT);
    }

    let recording = testing::record();
    assert_eq!(call(&mut vec![(); 2]).await, Err(TRANSIENT));
    assert_eq!(recording.delays(), [2, 4, 8].map(secs));
}

#[tokio::test(start_paused = true)]
async fn progress_after_a_time_replaces_items() {
    #[retry(stream = "resume", max = 3, backoff = "linear", base = "2s", jitter = "none", attempt = attempt)]
    fn watch(steps: &Steps) -> impl futures::Stream<Item = Result<(), Failure>> {
        let end = stream::once(steps.next(attempt)).filter(|end| ready(end.is_err()));
        stream::iter([Ok(())]).chain(end)
    }

    let steps = [
        (1, Some(120)),
        (1, Some(120)),
        (1, Some(120)),
        (200, Some(120)),
        (1, None),
    ];
    let steps = Steps(RefCell::new(steps.into_iter().rev().collect()));
    let recording = testing::record();
    let watched = watch(&steps);
    pin_mut!(watched);
    while let Some(item) = watched.next().await {
        assert_eq!(item, Ok(()));
    }
    assert_eq!(recording.delays(), [2, 4, 6, 2, 4].map(secs));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_rejected_may_be_progress_too() {
    for (progresses, polls) in [(true, 10), (false, 4)] {
        let script = RefCell::new(Script::new([]));
        let chain = POLICY.until(|polls: &usize| *polls > 9);
        let polled = chain.call_attempt(async |attempt| {
            if progresses {
                attempt.progress();
            }
            script.borrow_mut().next()
        });
        assert_eq!(polled.await, Ok(polls));
    }
}

/// The breaker is open after each attempt, for longer than the pause.
#[tokio::test(start_paused = true)]
async fn progress_restarts_the_count_of_rejections_too() {
    #[retry(backoff = "fixed", jitter = "none", rejected(max = 1), attempt = attempt, breaker = breaker, on = |_| true)]
    async fn feed(breaker: &Breaker, starts: &mut Vec<u64>, start: Instant) -> Result<(), Failure> {
        starts.push(start.elapsed().as_secs());
        attempt.progress();
        breaker.force_open();
        if starts.len() < 3 {
            Err(TRANSIENT)
        } else {
            Ok(())
        }
    }

    let (breaker, start, mut starts) = (Breaker::new(), Instant::now(), Vec::new());
    let resets = async {
        for pause in [1500, 2000] {
            sleep(millis(pause)).await;
            breaker.reset();
        }
    };
    let (fed, ()) = tokio::join!(feed(&breaker, &mut starts, start), resets);
    assert_eq!((fed, starts), (Ok(()), vec![0, 2, 4]));
}
