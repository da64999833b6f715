//! The key `cancel`: a pause ends at once, and the call with the error that it had before.

use std::cell::Cell;
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use retry_runtime::own_loop::{Call, Site};
use retry_runtime::seam::{BlockingTimer, CancelFn};
use retry_runtime::{Cancel, EventData, GaveUp, Policy, Reason, Verdict, retry, testing};
use support::failure::{Failure, STOP, TRANSIENT};
use support::is_send;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::keys::{Script, secs};

/// Returns a token that is cancelled after this number of seconds.
fn after(seconds: u64) -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        sleep(secs(seconds)).await;
        cancelled.cancel();
    });
    token
}

#[retry(max = "unlimited", backoff = "fixed", base = "1h", cap = "1h", jitter = "none", name = "call",
    cancel = token.cancelled())]
async fn call(token: &CancellationToken, script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_cut_short() {
    let recording = testing::record();
    let start = Instant::now();
    let mut script = Script::new(vec![TRANSIENT; 9]);
    let token = after(5);
    assert_eq!(is_send(call(&token, &mut script)).await, Err(TRANSIENT));
    assert_eq!((script.attempts, start.elapsed()), (1, secs(5)));
    assert_eq!(
        recording.lines(),
        [
            "retrying call attempt=1 max=unlimited delay=3600s error=transient reason=transient",
            "gave up call attempt=1 max=unlimited error=transient reason=cancelled",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_running_attempt_is_not_dropped_and_no_other_follows() {
    #[retry(jitter = "none", name = "slow", cancel = token.cancelled())]
    async fn slow(token: &CancellationToken, script: &mut Script) -> Result<usize, Failure> {
        sleep(secs(10)).await;
        script.next()
    }

    let recording = testing::record();
    let start = Instant::now();
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(slow(&after(3), &mut script).await, Err(TRANSIENT));
    assert_eq!((script.attempts, start.elapsed()), (1, secs(10)));
    let line = "gave up slow attempt=1 max=3 error=transient reason=cancelled";
    assert_eq!(recording.lines(), [line]);
    // A success stays a success, and an error that isn't worth a retry keeps its reason.
    assert_eq!(slow(&after(3), &mut Script::new([])).await, Ok(1));
    slow(&after(3), &mut Script::new([STOP])).await.unwrap_err();
    let last = recording.lines().pop().unwrap();
    assert!(last.ends_with("reason=not retryable"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_and_rested_at_once_is_cancelled() {
    scripted! {
        #[retry(backoff = "fixed", base = "5s", jitter = "none", cancel = sleep(secs(5)))]
        async fn both();
        #[retry(backoff = "none", timer = |_| ready(()), cancel = token.cancelled())]
        async fn at_once(token: &CancellationToken);
    }

    let mut script = Script::new([TRANSIENT]);
    assert_eq!(both(&mut script).await, Err(TRANSIENT));
    // Between the failure and the end of a pause that takes no time.
    let token = CancellationToken::new();
    let mut script = Script::new([TRANSIENT]);
    let mut context = Context::from_waker(Waker::noop());
    let mut future = pin!(at_once(&token, &mut script));
    assert!(future.as_mut().poll(&mut context).is_pending());
    token.cancel();
    assert_eq!(future.poll(&mut context), Poll::Ready(Err(TRANSIENT)));
}

#[tokio::test(start_paused = true)]
async fn cancel_is_evaluated_after_each_failure_and_before_each_pause() {
    #[retry(jitter = "none", cancel = {
        count.set(count.get() + 1);
        std::future::pending::<()>()
    })]
    async fn counted(count: &Cell<u32>, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    for failures in 0..3 {
        let count = Cell::new(0);
        let mut script = Script::new(vec![TRANSIENT; failures]);
        counted(&count, &mut script).await.unwrap();
        assert_eq!(count.get() as usize, 2 * failures);
    }
}

#[tokio::test(start_paused = true)]
async fn endings_are_reported() {
    #[retry(max = 9, jitter = "none", attempt = attempt, repeats = 9, deadline = "1h", cancel = token.cancelled(),
        observe = |event| if let EventData::FallingBack { reason, .. } = event.data { reasons.push(reason) },
        fallback = async |gave_up: GaveUp<Failure>| {
            assert_eq!((gave_up.reason(), gave_up.attempts()), (Reason::Cancelled, 3));
            assert_eq!((gave_up.errors().count(), gave_up.elapsed()), (3, secs(4)));
            sleep(secs(1)).await;
            Ok(42)
        })]
    async fn full(
        token: &CancellationToken,
        reasons: &mut Vec<Reason>,
        script: &mut Script,
    ) -> Result<usize, Failure> {
        assert_eq!(attempt.errors().len(), script.attempts);
        script.next()
    }

    fn shape(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(
            (gave_up.reason(), gave_up.attempts()),
            (Reason::Cancelled, 3)
        );
        STOP
    }

    #[retry(max = 9, jitter = "none", give_up = shape, cancel = token.cancelled())]
    async fn shaped(token: &CancellationToken, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let mut reasons = Vec::new();
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(full(&after(4), &mut reasons, &mut script).await, Ok(42));
    assert_eq!(reasons, [Reason::Cancelled]);
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(shaped(&after(4), &mut script).await, Err(STOP));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_looked_at_again_after_the_pause() {
    #[retry(jitter = "none", deadline = "10s", timer = |pause| sleep(pause * 100), cancel = token.cancelled())]
    async fn call(token: &CancellationToken, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let recording = testing::record();
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(call(&after(1_000), &mut script).await, Err(TRANSIENT));
    assert!(recording.lines()[1].ends_with("reason=deadline"));
    let mut script = Script::new([TRANSIENT]);
    assert_eq!(call(&after(99), &mut script).await, Err(TRANSIENT));
    assert!(recording.lines()[3].ends_with("reason=cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_until_rejected_is_returned() {
    #[retry(max = 9, jitter = "none", name = "poll", until = |value| *value > 3, cancel = token.cancelled())]
    async fn poll(token: &CancellationToken, attempts: &mut u32) -> Result<u32, Failure> {
        *attempts += 1;
        Ok(*attempts)
    }

    #[retry(max = 9, jitter = "none", attempt = attempt, until = |value| *value > 3, cancel = token.cancelled(),
        validate = |_| Ok(()))]
    async fn checked(token: &CancellationToken, attempts: &mut u32) -> Result<u32, Failure> {
        *attempts += 1;
        assert_eq!(attempt.number(), *attempts);
        Ok(*attempts)
    }

    #[retry(max = 9, backoff = "none", until = |value| *value > 3, cancel = flag)]
    fn blocking(flag: &AtomicBool, attempts: &mut u32) -> Result<u32, Failure> {
        *attempts += 1;
        flag.store(true, SeqCst);
        Ok(*attempts)
    }

    let recording = testing::record();
    assert_eq!(poll(&after(2), &mut 0).await, Ok(2));
    assert_eq!(
        recording.lines().last().unwrap(),
        "gave up poll attempt=2 max=9 error=value rejected reason=cancelled"
    );
    assert_eq!(poll(&after(9), &mut 0).await, Ok(4));
    assert_eq!(checked(&after(2), &mut 0).await, Ok(2));
    assert_eq!(blocking(&AtomicBool::new(false), &mut 0), Ok(1));
}

/// Each kind of failure has the same closure or `async` block to be cancelled by.
#[tokio::test(start_paused = true)]
async fn a_closure_works_with_keys_that_reject_values() {
    #[retry(max = 9, backoff = "none", until = |value| *value > 3, cancel = || flag.load(SeqCst))]
    fn polled(flag: &AtomicBool, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    #[retry(max = 9, backoff = "none", validate = |value| (*value > 3).then_some(()).ok_or(STOP),
        attempt = attempt, deadline = "1h", cancel = || flag.load(SeqCst))]
    fn checked(flag: &AtomicBool, script: &mut Script) -> Result<usize, Failure> {
        assert_eq!(attempt.errors().len(), script.attempts);
        script.next()
    }

    scripted! {
        #[retry(max = 9, backoff = "none", until = |value| *value > 3, give_up = GaveUp::into_error,
            validate = |value| (*value > 4).then_some(()).ok_or(STOP), cancel = async {
                token.cancelled().await;
            })]
        async fn both(token: &CancellationToken);
        #[retry(max = 9, backoff = "none", until = |value| *value > 3, correct = |value, _| Ok(value + 1),
            validate = |value| (*value > 4).then_some(()).ok_or(STOP), invalid(backoff = "none"), cancel = async {
                token.cancelled().await;
            })]
        async fn corrected(token: &CancellationToken);
    }

    let script = || Script::new([TRANSIENT; 2]);
    let (go_on, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    assert_eq!(polled(&go_on, &mut script()), Ok(4));
    assert_eq!(polled(&stop, &mut script()), Err(TRANSIENT));
    assert_eq!(polled(&stop, &mut Script::new([])), Ok(1));
    assert_eq!(checked(&go_on, &mut script()), Ok(4));
    assert_eq!(checked(&stop, &mut script()), Err(TRANSIENT));
    assert_eq!(checked(&stop, &mut Script::new([])), Err(STOP));
    let (go_on, stop) = (CancellationToken::new(), CancellationToken::new());
    stop.cancel();
    assert_eq!(is_send(both(&go_on, &mut script())).await, Ok(5));
    assert_eq!(both(&stop, &mut script()).await, Err(TRANSIENT));
    assert_eq!(both(&stop, &mut Script::new([])).await, Ok(1));
    let mut third = Script::new([]);
    third.attempts = 3;
    assert_eq!(both(&stop, &mut third).await, Err(STOP));
    assert_eq!(is_send(corrected(&go_on, &mut script())).await, Ok(5));
    assert_eq!(corrected(&stop, &mut script()).await, Err(TRANSIENT));
}

#[tokio::test(start_paused = true)]
async fn pauses_before_corrections_are_cut_short() {
    #[retry(jitter = "none", name = "draft", invalid(max = 5, base = "10s"), cancel = token.cancelled(),
        validate = |_| Err(TRANSIENT), correct = async |value: u32, _| Ok(value + 1))]
    async fn draft(token: &CancellationToken) -> Result<u32, Failure> {
        Ok(1)
    }

    #[retry(jitter = "none", invalid(max = 5, base = "10s"), cancel = token.cancelled(), validate = |_| Err(TRANSIENT))]
    async fn anew(token: &CancellationToken) -> Result<u32, Failure> {
        Ok(1)
    }

    let recording = testing::record();
    let start = Instant::now();
    assert_eq!(draft(&after(15)).await, Err(TRANSIENT));
    assert_eq!(start.elapsed(), secs(15));
    let last = recording.lines().pop().unwrap();
    assert!(last.ends_with("reason=cancelled"), "{last}");
    assert_eq!(anew(&after(5)).await, Err(TRANSIENT));
    assert_eq!(start.elapsed(), secs(20));
}

/// A wait that the test ends, without a thread.
#[derive(Default)]
struct Waits {
    waited: Cell<u32>,
    cancelled_in: u32,
}

impl BlockingTimer for Waits {
    fn sleep(&self, _: Duration) {
        unreachable!("there is a `cancel`")
    }

    fn sleep_or_cancelled(&self, pause: Duration, cancel: &dyn Cancel) -> bool {
        assert!(!cancel.is_cancelled());
        assert_eq!(pause, secs(3600));
        self.waited.set(self.waited.get() + 1);
        self.waited.get() == self.cancelled_in
    }
}

#[test]
fn blocking_pauses_are_cut_short() {
    #[retry(max = 9, backoff = "fixed", base = "1h", cap = "1h", jitter = "none", name = "call",
        timer = waits, cancel = || false)]
    fn call(waits: &Waits, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let recording = testing::record();
    let waits = Waits {
        cancelled_in: 3,
        ..Waits::default()
    };
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(call(&waits, &mut script), Err(TRANSIENT));
    assert_eq!((script.attempts, waits.waited.get()), (3, 3));
    assert_eq!(
        recording.lines().last().unwrap(),
        "gave up call attempt=3 max=9 error=transient reason=cancelled"
    );
    let waits = Waits {
        cancelled_in: 1,
        ..Waits::default()
    };
    let policy = Policy::fixed(secs(3600))
        .cap(secs(3600))
        .jitter(retry_runtime::Jitter::None);
    let outcome = policy
        .timer(&waits)
        .cancel(CancelFn::new(|| false))
        .call_blocking(|| Err::<(), _>(TRANSIENT));
    assert_eq!((outcome, waits.waited.get()), (Err(TRANSIENT), 1));
    let last = recording.lines().pop().unwrap();
    assert!(last.ends_with("reason=cancelled"), "{last}");
}

#[test]
fn flags_and_functions_cancel_blocking_calls() {
    #[retry(max = 9, base = "1h", cap = "1h", cancel = flag)]
    fn flagged(flag: &AtomicBool, script: &mut Script) -> Result<usize, Failure> {
        flag.store(script.attempts == 1, SeqCst);
        script.next()
    }

    // Not cancelled after the failure, but as soon as the pause starts.
    #[retry(max = 9, backoff = "fixed", base = "1h", cap = "1h", jitter = "none", cancel = || {
        asked.set(asked.get() + 1);
        asked.get() > 1
    })]
    fn asking(asked: &Cell<u32>, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let mut script = Script::new(vec![TRANSIENT; 9]);
    let skipped = testing::skip_sleeps();
    assert_eq!(
        flagged(&AtomicBool::new(false), &mut script),
        Err(TRANSIENT)
    );
    assert_eq!(script.attempts, 2);
    drop(skipped);
    let (asked, mut script) = (Cell::new(0), Script::new(vec![TRANSIENT; 9]));
    assert_eq!(asking(&asked, &mut script), Err(TRANSIENT));
    assert_eq!((script.attempts, asked.get()), (1, 2));
    let policy = Policy::fixed(secs(3600)).cap(secs(3600));
    let outcome = policy
        .cancel(CancelFn::new(|| true))
        .call_blocking(|| Err::<(), _>(TRANSIENT));
    assert_eq!(outcome, Err(TRANSIENT));
}

#[test]
fn users_loops_can_report_a_cancellation() {
    const POLICY: Policy = Policy::new();
    let site = Site::new(&POLICY, "loop");
    let failure = retry_runtime::own_loop::Failure::new(&site, Verdict::TRANSIENT, &"busy");
    let decision = Call::new().failed_with(failure.cancelled(true));
    assert_eq!(decision, Err(Reason::Cancelled));
    // For a failure that is worth a retry, even if another reason would also end the call.
    for (verdict, reason) in [
        (Verdict::STOP, Reason::NotRetryable),
        (Verdict::TIMEOUT, Reason::Cancelled),
    ] {
        let failure = retry_runtime::own_loop::Failure::new(&site, verdict, &"");
        let failure = failure.idempotent(false).cancelled(true);
        assert_eq!(Call::new().failed_with(failure), Err(reason));
    }
}

/// A loop that never sleeps can be dropped, because each pause yields once, even with length zero, or if its timer
/// doesn't wait.
#[test]
fn a_loop_that_never_sleeps_gives_way_once_for_each_attempt() {
    scripted! {
        #[retry(policy = policy, timer = |_| ready(()))] async fn plain(policy: Policy);
        #[retry(policy = policy, timer = |_| ready(()), cancel = std::future::pending::<()>())]
        async fn cancellable(policy: Policy);
        #[retry(validate = |_| Err(TRANSIENT), correct = |value, _| Ok(value), invalid(max = 2), timer = |_| ready(()))]
        async fn corrected();
    }

    #[retry(stream = "buffer", policy = policy, timer = |_| ready(()))]
    fn streamed(policy: Policy, script: &mut Script) -> impl Stream<Item = Result<usize, Failure>> {
        stream::iter([script.next()])
    }

    let ready_timer = retry_runtime::seam::TimerFn::new(|_| ready(()));
    let by_policy = async |policy: Policy, script: &mut Script| {
        let script = std::sync::Mutex::new(script);
        let call = policy.on(|_: &Failure| true);
        call.timer(ready_timer)
            .call(|| ready(script.lock().unwrap().next()))
            .await
    };
    let failing = || Script::new(vec![TRANSIENT; 9]);
    assert_eq!(polls(corrected(&mut Script::new([]))), 3);
    for policy in [Policy::none().max(2), Policy::new().max(2)] {
        assert_eq!(polls(plain(policy, &mut failing())), 3);
        assert_eq!(polls(cancellable(policy, &mut failing())), 3);
        let mut script = failing();
        let mut streamed = pin!(streamed(policy, &mut script));
        assert_eq!(polls(streamed.next()), 3);
        assert_eq!(polls(by_policy(policy, &mut failing())), 3);
    }
}

/// Returns the number of polls until the future is ready. The future must wake itself each time.
fn polls(future: impl Future) -> u32 {
    let woken = std::sync::Arc::new(Woken::default());
    let waker = Waker::from(std::sync::Arc::clone(&woken));
    let mut future = pin!(future);
    for polls in 1.. {
        let mut context = Context::from_waker(&waker);
        if future.as_mut().poll(&mut context).is_ready() {
            return polls;
        }
        assert_eq!(woken.0.load(SeqCst), polls);
    }
    unreachable!()
}

#[derive(Default)]
struct Woken(AtomicU32);

impl std::task::Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}
