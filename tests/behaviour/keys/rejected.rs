//! The key `rejected`: attempts that a breaker or a limiter rejects are tried again.

use std::panic::resume_unwind;

use futures::future::{join, join_all, join3};
use retry_runtime::seam::BlockingTimer;
use retry_work::plan::Snapshot;
use support::dropped::give_way;
use support::prelude::*;

/// A breaker that opens for 5 s at the first failure, and is open.
fn open() -> Breaker {
    let breaker = Breaker::new().consecutive_failures(1);
    breaker.fail();
    breaker
}

const REJECTED: &str = "error=rejected by an open circuit breaker reason=rejected";
const AGAIN: Section = Section::new().max(20).backoff(Backoff::Fixed).base(secs(1));
const POLICY: Policy = Policy::new().jitter(Jitter::None).rejected(AGAIN);

#[retry(max = 1, jitter = "none", rejected(max = 2, base = "1s"), name = "call", breaker = breaker)]
async fn call(breaker: &Breaker, script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

/// Neither at the first attempt nor at a later one does the rejection use up a retry of the failures.
#[tokio::test(start_paused = true)]
async fn a_call_is_tried_again_once_the_breaker_is_half_open() {
    let recording = testing::record();
    let start = Instant::now();
    assert_eq!(call(&open(), &mut Script::new([TRANSIENT])).await, Ok(2));
    assert_eq!(start.elapsed(), secs(5 + 5));
    let lines = [
        &format!("retrying call attempt=1 max=1 retry=1 retry_max=2 delay=5s {REJECTED}"),
        "breaker half open call attempt=1 reason=open for long enough",
        "breaker opened call attempt=1 delay=5s error=transient reason=trial call failed",
        "retrying call attempt=1 max=1 delay=1s error=transient reason=transient",
        &format!("retrying call attempt=2 max=1 retry=2 retry_max=2 delay=4s {REJECTED}"),
        "breaker half open call attempt=2 reason=open for long enough",
        "breaker closed call attempt=2 reason=trial call succeeded",
        "succeeded call attempt=2 max=1",
    ];
    assert_eq!(recording.lines(), lines);
}

/// Room for one attempt at a time.
struct World(ConcurrencyLimiter, Cell<u32>);

impl World {
    fn new() -> Self {
        Self(ConcurrencyLimiter::fixed(1).queue(0), Cell::new(0))
    }

    fn attempt(&self) -> u32 {
        self.1.set(self.1.get() + 1);
        self.1.get()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what an operation returns")]
fn answers(items: Vec<u32>) -> Result<Vec<Result<u32, Failure>>, Failure> {
    Ok(items.into_iter().map(Ok).collect())
}

/// An attempt is made at the first whole second at which there is room, even if code chooses the pauses.
#[tokio::test(start_paused = true)]
async fn a_call_is_tried_again_until_there_is_room() {
    scripted! {
        #[retry(policy = |_: &Failure| POLICY, limiter = &world.0)]
        async fn chosen(world: &World) -> Result<u32, Failure> = Ok(world.attempt());
        #[retry(backoff = |_| secs(1), jitter = "none", rejected(max = many), limiter = &world.0)]
        async fn computed(world: &World, many: u32) -> Result<u32, Failure> = Ok(world.attempt());
    }

    let (world, start) = (World::new(), Instant::now());
    let held = HeldPermit::new(&world.0);
    let other = async {
        sleep(millis(2500)).await;
        drop(held);
    };
    let calls = join3(chosen(&world), computed(&world, 20), other).await;
    assert_eq!(calls, (Ok(1), Ok(2), ()));
    assert_eq!((start.elapsed(), world.0.running()), (secs(3), 0));
}

/// Those that the trial call leaves out wait by themselves, as a call of their own.
#[tokio::test(start_paused = true)]
async fn rejected_items_of_a_batch_are_retried_separately_and_within_the_limit() {
    type Sent = &'static [(u64, &'static [u32])];
    type Pauses = &'static [u64];
    type End = (u64, Option<Reason>);

    let bounded = POLICY.deadline(secs(20));
    let cases: [(u64, usize, Policy, Sent, Pauses, End); 4] = rows! {
        300, 1, POLICY, &[(5, &[1]), (6, &[2, 3])], &[5, 1], (6_300, None);
        30_000, 1, POLICY, &[(5, &[1]), (35, &[2, 3])], &[5, 1], (65_000, None);
        30_000, 2, POLICY, &[(5, &[1]), (10, &[2]), (35, &[3])], &[5, 1, 1, 1, 1, 1, 1],
            (65_000, None);
        30_000, 1, bounded, &[(5, &[1])], &[5, 1], (20_000, Some(Reason::Deadline));
    };
    for (lasts, concurrency, policy, expected, pauses, (ended, reason)) in cases {
        let (breaker, start, sent) = (open(), Instant::now(), RefCell::new(Vec::new()));
        let send = async |items: Vec<u32>| {
            let at = start.elapsed().as_secs();
            sent.borrow_mut().push((at, items.clone()));
            sleep(millis(lasts)).await;
            answers(items)
        };
        let recording = testing::record();
        let chain = policy.breaker(&breaker).name("call");
        let batches = chain.batches(3).concurrency(concurrency);
        let results = retry_each(batches, [1, 2, 3], send).await;
        let sent = sent.into_inner();
        let sent = sent.iter().map(|(at, items)| (*at, &**items));
        assert_eq!(sent.collect::<Vec<_>>(), expected);
        assert_eq!(start.elapsed(), millis(ended));
        let results = results.into_iter();
        let reasons = results.map(|result| Some(result.err()?.reason()));
        assert_eq!(reasons.collect::<Vec<_>>(), [reason; 3]);
        let mut lines = recording.lines();
        lines.retain(|line| line.starts_with("retrying"));
        let expected = pauses.iter().zip(1..).map(|(pause, number)| {
            let numbers = format!("attempt=1 max=3 retry={number} retry_max=20 delay={pause}s");
            format!("retrying call {numbers} {REJECTED}")
        });
        assert_eq!(lines, expected.collect::<Vec<_>>());
    }
}

/// The time of the call that runs meanwhile is part of the pause.
#[test]
fn items_of_a_blocking_batch_pause_while_others_run() {
    let cases = [
        (POLICY, vec![vec![1], vec![2, 3]], 5 + 30 + 30),
        (POLICY.deadline(secs(20)), vec![vec![1]], 5 + 30),
    ];
    for (policy, expected, seconds) in cases {
        let (breaker, sent) = (open(), Mutex::new(Vec::new()));
        let skipped = testing::skip_sleeps();
        let send = |items: Vec<u32>| {
            sent.lock().unwrap().push(items.clone());
            BlockingTimer::sleep(&DefaultTimer, secs(30));
            answers(items)
        };
        let results = retry_each_blocking(policy.breaker(&breaker), [1, 2, 3], send);
        assert_eq!(*sent.lock().unwrap(), expected);
        let answered = results.iter().filter(|result| result.is_ok());
        assert_eq!(answered.count(), expected.concat().len());
        // By a clock that keeps running.
        let took = skipped.total();
        let range = millis(seconds * 1000 - 100)..=secs(seconds);
        assert!(range.contains(&took), "{took:?}");
    }
}

/// Even one of a timer that can't be woken.
#[test]
fn a_panic_elsewhere_ends_a_pause() {
    let limiter = ConcurrencyLimiter::fixed(1).queue(0);
    let is_pausing = AtomicBool::new(false);
    let timer = TimerFn::new(|pause| {
        is_pausing.store(true, Ordering::SeqCst);
        thread::sleep(pause);
    });
    let panics = |_: Vec<u32>| -> Result<Vec<Result<(), Failure>>, Failure> {
        while !is_pausing.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        // Panics without output.
        resume_unwind(Box::new("quiet"));
    };
    let start = std::time::Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let chain = POLICY.rejected(AGAIN.base(secs(20))).limiter(&limiter);
        let batches = chain.timer(timer).batches(1).concurrency(2);
        retry_each_blocking(batches, [1, 2], panics)
    }));
    assert!(outcome.is_err() && start.elapsed() < secs(20));
}

/// An attempt that starts after the deadline would be dropped at once, even if the pause was only slightly late.
#[tokio::test(start_paused = true)]
async fn no_attempt_starts_after_a_dropping_deadline() {
    let timer = TimerFn::new(|pause| sleep(pause + millis(50)));
    let world = World::new();
    let policy = POLICY.deadline(millis(1020));
    let chain = || policy.limiter(&world.0).timer(&timer);
    let other = async || {
        let _held = HeldPermit::new(&world.0);
        sleep(millis(500)).await;
    };
    let send = async |items: Vec<u32>| {
        world.attempt();
        answers(items)
    };
    let ((), results) = join(other(), retry_each(chain(), [1], send)).await;
    let error = results[0].as_ref().unwrap_err();
    assert_eq!(error.reason(), Reason::Deadline);
    let mut plan = Plan::local();
    plan.add("a", [""; 0], async |_| Ok::<_, Failure>(world.attempt()));
    let valid = async |_: Snapshot<u32>| Validity::Valid;
    let ((), end) = join(other(), plan.run_until(chain(), valid)).await;
    assert!(end.is_ok() && plan.output("a").is_none());
    assert_eq!(world.1.get(), 0);
}

/// Even if the timer doesn't wait: otherwise the task that holds the limiter's only place would never run.
#[tokio::test(start_paused = true)]
async fn a_pause_that_is_over_at_once_yields() {
    let timer = TimerFn::new(|_| ready(()));
    let world = World::new();
    let policy = POLICY.rejected(AGAIN.backoff(Backoff::None));
    let chain = || policy.limiter(&world.0).timer(&timer);
    let other = async || {
        let _held = HeldPermit::new(&world.0);
        give_way().await;
    };
    let attempt = async || Ok::<_, Failure>(world.attempt());
    let ((), value) = join(other(), chain().call(attempt)).await;
    assert_eq!(value, Ok(1));
    let send = async |_: Vec<u32>| Ok(vec![attempt().await]);
    let ((), results) = join(other(), retry_each(chain(), [1], send)).await;
    assert_eq!(results[0].as_ref().unwrap(), &2);
    let mut plan = Plan::local();
    plan.add("a", [""; 0], async |_| attempt().await);
    let valid = async |_: Snapshot<u32>| Validity::Valid;
    let ((), end) = join(other(), plan.run_until(chain(), valid)).await;
    assert!(end.is_ok());
    assert_eq!(plan.output("a"), Some(&3));
}

#[tokio::test(start_paused = true)]
async fn the_rejections_of_an_item_count_in_all_rounds() {
    for (max, expected) in [(1, [Err(Reason::Rejected); 2]), (2, [Ok(1), Ok(2)])] {
        let World(limiter, calls) = &World::new();
        let send = async |items: Vec<u32>| match calls.replace(1) {
            0 => Err(TRANSIENT),
            _ => answers(items),
        };
        // Those of others, at the first try of either round.
        let other = async {
            for until in [500, 1000] {
                let held = HeldPermit::new(limiter);
                sleep(millis(until)).await;
                drop(held);
                sleep(secs(1)).await;
            }
        };
        let policy = POLICY.rejected(AGAIN.max(max));
        let ((), results) = join(other, retry_each(policy.limiter(limiter), [1, 2], send)).await;
        let results = results.into_iter();
        let reasons = results.map(|result| result.map_err(|error| error.reason()));
        assert_eq!(reasons.collect::<Vec<_>>(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_can_be_aborted() {
    scripted! {
        #[retry(policy = POLICY, breaker = breaker, abort = sleep(secs(2)), name = "call")]
        async fn aborted(breaker: &Breaker) = Ok(());
    }

    let (recording, start) = (testing::record(), Instant::now());
    aborted(&open()).await.unwrap_err();
    assert_eq!(start.elapsed(), secs(2));
    assert_eq!(recording.reasons(), [Reason::Cancelled]);
}

/// Calls that wait for the same moment don't start together.
#[tokio::test(start_paused = true)]
async fn pauses_are_spread() {
    scripted! {
        #[retry(rejected(max = "unlimited", base = "100ms"), breaker = breaker)]
        async fn call(breaker: &Breaker) = Ok(());
    }

    let _seeded = testing::seed(7);
    let recording = testing::record();
    let breaker = open();
    join_all((0..100).map(|_| call(&breaker))).await;
    let mut delays = recording.delays();
    delays.truncate(100);
    delays.sort_unstable();
    assert!(delays[0] >= secs(5) && delays[99] <= millis(5500));
    delays.dedup();
    assert!(delays.len() > 90);
}
