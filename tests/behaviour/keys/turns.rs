//! The key `limiter`: the clock for turns, and turns that come before a call waits for them.

use std::sync::atomic::Ordering::SeqCst;

use retry_runtime::own_loop::{Attempts, Site};
use retry_runtime::seam::Moment;
use support::clock::Simulated;
use support::prelude::*;

const POLICY: Policy = Policy::none();
const SITE: Site<'_> = Site::new(&POLICY, "call");

/// A clock that stands still, of an engine that has already slept.
#[derive(Default)]
struct Engine {
    sleeps: Cell<u32>,
}

impl Timer for Engine {
    async fn sleep(&self, _: Duration) {
        self.sleeps.set(self.sleeps.get() + 1);
    }

    fn now(&self) -> Moment {
        Moment::from_origin(secs(1_700_000_000))
    }
}

#[retry(limiter = limiter, deadline = "3s", timer = time)]
async fn begin(limiter: &RateLimiter<Quota>, time: &impl Timer) -> Result<(), Failure> {
    Ok(())
}

/// A clock that moves in the poll in which a sleep ends, some polls after the first.
struct Late<'a>(&'a Simulated);

impl Timer for Late<'_> {
    async fn sleep(&self, duration: Duration) {
        yield_now().await;
        yield_now().await;
        self.0.sleep(duration).await;
    }

    fn now(&self) -> Moment {
        self.0.now()
    }
}

/// One after another, and all of them at once.
async fn waits_by(time: &Simulated) -> Duration {
    wait_by(time).await;
    wait_by(&Late(time)).await;
    time.passed()
}

async fn wait_by(time: &impl Timer) {
    let limiter = RateLimiter::fixed(1, secs(2));
    begin(&limiter, time).await.unwrap();
    begin(&limiter, time).await.unwrap();
    let policy = Policy::new().limiter(&limiter).timer(time);
    policy.call(|| ready(Ok::<_, Failure>(()))).await.unwrap();
    let mut attempts = Attempts::new(&SITE).limiter(&limiter).timer(time);
    attempts.first().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_wait_uses_only_the_calls_timer() {
    let time = Simulated::default();
    let start = Instant::now();
    assert_eq!(waits_by(&time).await, 2 * 3 * secs(2));
    assert_eq!(time.slept().len(), 2 * 3);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn a_wait_uses_the_calls_timer_even_if_another_clock_runs() {
    let waited = waits_by(&Simulated::default()).await;
    assert!((secs(11)..=secs(12)).contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_by_one_simulated_clock_keep_their_order() {
    let (limiter, time) = (RateLimiter::fixed(1, secs(2)), Simulated::default());
    let order = RefCell::new(Vec::new());
    let calls = (0..5).map(|call| {
        let (limiter, time, order) = (&limiter, &time, &order);
        async move {
            let mut attempts = Attempts::new(&SITE).limiter(limiter).timer(time);
            attempts.first().await.unwrap();
            order.borrow_mut().push(call);
        }
    });
    futures::future::join_all(calls).await;
    assert_eq!(order.into_inner(), [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_clock_that_stands_still_does_not_block_other_tasks() {
    let (limiter, time) = (RateLimiter::fixed(1, millis(200)), Engine::default());
    begin(&limiter, &time).await.unwrap();
    let mut second = pin!(begin(&limiter, &time));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(second.as_mut().poll(&mut context), Poll::Pending);
    assert_eq!(time.sleeps.get(), 1);
    // Other tasks continue, such as the one that ends it.
    let others = async {
        for _ in 0..10 {
            yield_now().await;
        }
    };
    tokio::select! {
        biased;
        _ = second => panic!("before its turn"),
        () = others => (),
    }
}

/// At each poll, a limiter with its own clock returns a slightly shorter wait.
#[tokio::test(start_paused = true)]
async fn an_approaching_turn_does_not_block_other_tasks() {
    struct Nearer(Mutex<Duration>);

    impl AdmissionControl for Nearer {
        fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
            let mut left = self.0.lock().unwrap();
            *left = left.saturating_sub(millis(1));
            let at_least = Some(*left);
            Admission::Wait { ahead: 0, at_least }
        }
    }

    let limiter = Nearer(Mutex::new(secs(1)));
    let mut attempts = Attempts::new(&SITE).limiter(&limiter).timer(DefaultTimer);
    let mut wait = pin!(attempts.first());
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1..10 {
        assert!(wait.as_mut().poll(&mut context).is_pending());
        assert!(*limiter.0.lock().unwrap() >= millis(998 - 2 * polls));
    }
}

/// A coarse clock is ahead of the time that it measures, or behind.
#[tokio::test(start_paused = true)]
async fn no_attempt_starts_too_early_with_a_coarse_clock() {
    struct Coarse(Instant);

    impl Timer for Coarse {
        async fn sleep(&self, duration: Duration) {
            sleep(duration).await;
        }

        fn now(&self) -> Moment {
            const TICK: u64 = 16;
            let millis = u64::try_from(self.0.elapsed().as_millis()).unwrap();
            Moment::from_origin(Duration::from_millis(millis / TICK * TICK))
        }
    }

    let start = Instant::now();
    let (limiter, time) = (RateLimiter::fixed(1, millis(10)), Coarse(start));
    for _ in 0..100 {
        begin(&limiter, &time).await.unwrap();
    }
    assert_eq!(start.elapsed(), millis(990));
}

/// A limiter that returns a wait at the first poll, and admits the attempt at the second.
#[derive(Default)]
struct Second {
    asked: AtomicU32,
    ended: Mutex<Vec<AttemptOutcome>>,
}

impl AdmissionControl for Second {
    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        match self.asked.fetch_add(1, SeqCst) {
            0 => Admission::Wait {
                ahead: 0,
                at_least: None,
            },
            _ => Admission::Admitted,
        }
    }

    fn leave(&self, _: Permit, end: AttemptOutcome) -> Changes {
        self.ended.lock().unwrap().push(end);
        [None; 2]
    }
}

/// A call that starts at once neither waits nor is cancelled.
#[tokio::test(start_paused = true)]
async fn a_turn_that_comes_before_the_wait_is_taken() {
    type Seen = RefCell<Vec<String>>;

    scripted! {
        #[retry(limiter = limiter, cancel = ready(()), name = "call", observe = |event| seen.borrow_mut().push(event.to_string()))]
        async fn waiting(limiter: &Second, seen: &Seen) = Ok(());
        #[retry(limiter = limiter, cancel = || true, name = "call", observe = |event| seen.borrow_mut().push(event.to_string()))]
        fn blocking(limiter: &Second, seen: &Seen) = Ok(());
    }

    let (limiters, seen): ([Second; 4], Seen) = Default::default();
    let chain = |limiter| {
        let observe = |event: &Event<'_>| seen.borrow_mut().push(event.to_string());
        Policy::new().limiter(limiter).name("call").observe(observe)
    };
    let flag = AtomicBool::new(true);
    let outcomes = [
        waiting(&limiters[0], &seen).await,
        blocking(&limiters[1], &seen),
        chain(&limiters[2])
            .cancel(ready(()))
            .call(|| ready(Ok(())))
            .await,
        chain(&limiters[3]).cancel(&flag).call_blocking(|| Ok(())),
    ];
    assert_eq!(outcomes, [const { Ok(()) }; 4]);
    for limiter in limiters {
        assert_eq!(limiter.asked.load(SeqCst), 2);
        let ended = limiter.ended.into_inner().unwrap();
        assert_eq!(ended, [AttemptOutcome::Success]);
    }
    let seen = seen.into_inner();
    let waits = seen.iter().any(|event| event.contains("wait"));
    assert!(!waits, "{seen:?}");
}

#[test]
fn a_turn_is_returned_if_the_limiter_panics() {
    #[derive(Default)]
    struct Panics(Mutex<Vec<AttemptOutcome>>);

    impl AdmissionControl for Panics {
        fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
            panic!("when asked")
        }

        fn leave(&self, _: Permit, end: AttemptOutcome) -> Changes {
            self.0.lock().unwrap().push(end);
            [None; 2]
        }
    }

    let limiter = Panics::default();
    let mut attempts = Attempts::new(&SITE).limiter(&limiter);
    assert!(catch_unwind(AssertUnwindSafe(|| attempts.first_blocking())).is_err());
    drop(attempts);
    assert_eq!(limiter.0.into_inner().unwrap(), [AttemptOutcome::NotBegun]);
}
