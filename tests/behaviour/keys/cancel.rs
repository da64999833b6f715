//! The key `cancel`: a pause ends at once, and the call ends with the error before the pause.

use std::future::Future;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Wake;

use futures::{Stream, StreamExt, stream};
use retry_runtime::Cancel;
use retry_runtime::own_loop::{Call, Site};
use retry_runtime::seam::BlockingTimer;
use support::prelude::*;

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

#[tokio::test(start_paused = true)]
async fn cancelled_and_rested_at_once_is_cancelled() {
    scripted! {
        #[retry(backoff = "fixed", base = "5s", jitter = "none", cancel = sleep(secs(5)))]
        async fn both();
        #[retry(backoff = "none", timer = |_| ready(()), cancel = token.cancelled())]
        async fn at_once(token: &CancellationToken);
    }

    assert_eq!(both(&mut Script::new([TRANSIENT])).await, Err(TRANSIENT));
    // Between the failure and the end of a pause that takes no time.
    let token = CancellationToken::new();
    let mut script = Script::new([TRANSIENT]);
    let mut context = Context::from_waker(Waker::noop());
    let mut future = pin!(at_once(&token, &mut script));
    assert!(future.as_mut().poll(&mut context).is_pending());
    token.cancel();
    assert_eq!(future.poll(&mut context), Poll::Ready(Err(TRANSIENT)));
}

/// Each kind of failure has the same closure or `async` block to be cancelled by.
#[tokio::test(start_paused = true)]
async fn a_closure_works_with_keys_that_reject_values() {
    #[retry(max = 9, backoff = "none", validate = |value| (*value > 3).then_some(()).ok_or(STOP),
        attempt = attempt, deadline = "1h", cancel = || flag.load(SeqCst))]
    fn checked(flag: &AtomicBool, script: &mut Script) -> Result<usize, Failure> {
        assert_eq!(attempt.errors().len(), script.attempts);
        script.next()
    }

    scripted! {
        #[retry(max = 9, backoff = "none", until = |value| *value > 3, cancel = || flag.load(SeqCst))]
        fn polled(flag: &AtomicBool);
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
    let (going, stopping) = (CancellationToken::new(), CancellationToken::new());
    stopping.cancel();
    let mut third = Script::new([]);
    third.attempts = 3;
    assert_rows! {
        polled(&go_on, &mut script()) => Ok(4);
        polled(&stop, &mut script()) => Err(TRANSIENT);
        polled(&stop, &mut Script::new([])) => Ok(1);
        checked(&go_on, &mut script()) => Ok(4);
        checked(&stop, &mut script()) => Err(TRANSIENT);
        checked(&stop, &mut Script::new([])) => Err(STOP);
        is_send(both(&going, &mut script())).await => Ok(5);
        both(&stopping, &mut script()).await => Err(TRANSIENT);
        both(&stopping, &mut Script::new([])).await => Ok(1);
        both(&stopping, &mut third).await => Err(STOP);
        is_send(corrected(&going, &mut script())).await => Ok(5);
        corrected(&stopping, &mut script()).await => Err(TRANSIENT);
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_before_corrections_are_cut_short() {
    scripted! {
        #[retry(jitter = "none", invalid(max = 5, base = "10s"), cancel = token.cancelled(),
            validate = |_| Err(TRANSIENT), correct = async |value: u32, _| Ok(value + 1))]
        async fn draft(token: &CancellationToken) -> Result<u32, Failure> = Ok(1);
        #[retry(jitter = "none", invalid(max = 5, base = "10s"), cancel = token.cancelled(),
            validate = |_| Err(TRANSIENT))]
        async fn created_again(token: &CancellationToken) -> Result<u32, Failure> = Ok(1);
    }

    let recording = testing::record();
    let start = Instant::now();
    assert_eq!(draft(&after(15)).await, Err(TRANSIENT));
    assert_eq!(start.elapsed(), secs(15));
    assert_eq!(recording.reasons(), [Reason::Cancelled]);
    assert_eq!(created_again(&after(5)).await, Err(TRANSIENT));
    assert_eq!(start.elapsed(), secs(20));
}

/// Waits that the test ends, without a thread: their number, and the number of the wait that is cancelled.
struct Waits(Cell<u32>, u32);

impl BlockingTimer for Waits {
    fn sleep(&self, _: Duration) {
        unreachable!("there is a `cancel`")
    }

    fn sleep_or_cancelled(&self, pause: Duration, cancel: &dyn Cancel) -> bool {
        assert!(!cancel.is_cancelled());
        assert_eq!(pause, secs(3600));
        self.0.set(self.0.get() + 1);
        self.0.get() == self.1
    }
}

#[test]
fn flags_functions_and_timers_cancel_blocking_calls() {
    #[retry(max = 9, base = "1h", cap = "1h", cancel = flag)]
    fn flagged(flag: &AtomicBool, script: &mut Script) -> Result<usize, Failure> {
        flag.store(script.attempts == 1, SeqCst);
        script.next()
    }

    scripted! {
        // Not cancelled after the failure, but as soon as the pause starts.
        #[retry(max = 9, backoff = "fixed", base = "1h", cap = "1h", jitter = "none", cancel = || asked.replace(true))]
        fn asking(asked: &Cell<bool>);
        #[retry(max = 9, backoff = "fixed", base = "1h", cap = "1h", jitter = "none", timer = waits, cancel = || false)]
        fn by_timer(waits: &Waits);
    }

    let skipped = testing::skip_sleeps();
    let flag = AtomicBool::new(false);
    let ran = run!([TRANSIENT; 9], |script| flagged(&flag, script));
    assert_eq!(ran, (Err(TRANSIENT), 2));
    drop(skipped);
    let recording = testing::record();
    let asked = Cell::new(false);
    let ran = run!([TRANSIENT; 9], |script| asking(&asked, script));
    assert_eq!(ran, (Err(TRANSIENT), 1));
    let waits = Waits(Cell::new(0), 3);
    let ran = run!([TRANSIENT; 9], |script| by_timer(&waits, script));
    assert_eq!((ran, waits.0.get()), ((Err(TRANSIENT), 3), 3));
    assert_eq!(recording.reasons(), [Reason::Cancelled; 2]);
}

#[test]
fn users_loops_can_report_a_cancellation() {
    const POLICY: Policy = Policy::new();
    let site = Site::new(&POLICY, "loop");
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
        #[retry(policy = policy, timer = |_| ready(()), cancel = pending::<()>())]
        async fn cancellable(policy: Policy);
        #[retry(validate = |_| Err(TRANSIENT), correct = |value, _| Ok(value), invalid(max = 2), timer = |_| ready(()))]
        async fn corrected();
    }

    #[retry(stream = "buffer", policy = policy, timer = |_| ready(()))]
    fn streamed(policy: Policy, script: &mut Script) -> impl Stream<Item = Result<usize, Failure>> {
        stream::iter([script.next()])
    }

    let ready_timer = TimerFn::new(|_| ready(()));
    let by_policy = async |policy: Policy, script: &mut Script| {
        let script = Mutex::new(script);
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
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let mut polls = 1;
    while future.as_mut().poll(&mut context).is_pending() {
        assert_eq!(woken.0.load(SeqCst), polls);
        polls += 1;
    }
    polls
}

/// Counts how often it was woken.
#[derive(Debug, Default)]
pub(super) struct Woken(pub(super) AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}
