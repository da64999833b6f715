//! `hedge` together with other keys.

use retry_runtime::seam::Moment;
use support::prelude::*;
use tokio::join;

use crate::hedge::{Server, answer, fails, millis, seen, since};

fn slow() -> Server {
    Server::new(vec![answer(900); 9])
}

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_if_no_retry_is_allowed() {
    asks!(fn enabled(enabled: bool), hedge = "200ms", enabled = enabled);
    asks!(fn by_policy(policy: &Policy), hedge = "200ms", policy = policy);
    asks!(fn idempotent(idempotent: bool), hedge = "200ms", idempotent = idempotent);
    asks!(fn section(max: u32), hedge = "200ms", max = 3, transient(max = max));
    asks!(fn cancelled(token: CancellationToken), hedge = "200ms", cancel = token.cancelled());
    asks!(fn deadline(deadline: Duration), hedge = "200ms", max = "unlimited", deadline = deadline);
    macro_rules! begins {
        ($server:ident: $($call:expr => $began:expr;)*) => {$({
            let $server = &slow();
            assert_eq!($call.await, Ok(1));
            assert_eq!($server.seen().began, $began);
        })*};
    }

    let policy = Policy::new().max(2);
    let token = CancellationToken::new();
    let cancels = async {
        sleep(millis(300)).await;
        token.cancel();
    };
    begins! { server:
        enabled(server, true) => [0, 200, 400, 600];
        enabled(server, false) => [0];
        by_policy(server, &policy) => [0, 200, 400];
        by_policy(server, &policy.enabled(false)) => [0];
        by_policy(server, &policy.max(0)) => [0];
        by_policy(server, &policy.transient(Section::new().max(1))) => [0, 200];
        by_policy(server, &policy.deadline(millis(399))) => [0, 200];
        idempotent(server, true) => [0, 200, 400, 600];
        idempotent(server, false) => [0];
        section(server, 0) => [0];
        section(server, 1) => [0, 200];
        deadline(server, millis(399)) => [0, 200];
        deadline(server, millis(400)) => [0, 200, 400];
        async { join!(cancelled(server, token.clone()), cancels).0 } => [0, 200];
    }
}

/// A future must not be polled after it is ready, which a hedged attempt may have noticed.
#[tokio::test(start_paused = true)]
async fn a_completed_cancellation_is_not_polled_again() {
    #[retry(hedge = "200ms", cancel = &mut cancelled)]
    async fn call(
        server: &Server,
        mut cancelled: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<usize, Failure> {
        server.ask().await
    }

    for (cancelled_at, began) in [(100, vec![0]), (300, vec![0, 200])] {
        let server = Server::new(vec![fails(900, TRANSIENT); 9]);
        let sleep = sleep(millis(cancelled_at));
        let cancelled = pin!(async {
            sleep.await;
        });
        assert_eq!(call(&server, cancelled).await, Err(TRANSIENT));
        assert_eq!(server.seen().began, began);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_each_attempts_own() {
    asks!(fn call(), hedge = "200ms", max = 3, timeout = "500ms", jitter = "none", name = "call");

    let recording = testing::record();
    let server = Server::new([answer(900), answer(900), answer(900), answer(10)]);
    assert_eq!(call(&server).await, Ok(4));
    // The first timed out at 500 ms; the others were dropped.
    assert_eq!(server.seen(), seen(&[0, 200, 400, 500], 3, 510));
    let expected = [
        "attempt failed call attempt=1 error=timeout reason=timeout",
        "hedging call attempt=4 max=3 delay=0ns",
        "succeeded call attempt=4 max=3",
    ];
    assert_eq!(recording.lines()[2..], expected);
    let server = Server::new(vec![answer(900); 9]);
    assert_eq!(call(&server).await, Err(TIMEOUT));
    assert_eq!(server.seen(), seen(&[0, 200, 400, 500], 4, 1_000));
}

/// The properties of an attempt: its number, the earlier errors, and whether it is the last one.
type Seen = (u32, Vec<Failure>, bool);

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_number() {
    #[retry(hedge = "200ms", max = 3, jitter = "none", attempt = attempt)]
    async fn call(server: &Server, seen: &Mutex<Vec<Seen>>) -> Result<usize, Failure> {
        let number = attempt.number();
        let outcome = server.ask().await;
        assert_eq!(attempt.max(), Some(3));
        let errors = attempt.errors().to_vec();
        let last = attempt.is_last();
        seen.lock().unwrap().push((number, errors, last));
        outcome
    }

    let server = Server::new([
        fails(350, TRANSIENT),
        fails(150, TIMEOUT),
        fails(500, TRANSIENT),
        answer(290),
    ]);
    let seen = Mutex::default();
    assert_eq!(call(&server, &seen).await, Ok(4));
    let expected = [
        (1, vec![], false),
        (2, vec![], false),
        (4, vec![TRANSIENT, TIMEOUT], true),
    ];
    assert_eq!(seen.into_inner().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn endings_get_every_error() {
    asks!(fn call(seen: &mut Option<(u32, Reason, Vec<Failure>)>),
    hedge = "200ms", max = 2, jitter = "none", give_up = |gave_up: GaveUp<Failure>| {
        let errors = gave_up.errors().cloned().collect();
        *seen = Some((gave_up.attempts(), gave_up.reason(), errors));
        gave_up.into_error()
    });

    let script = [
        fails(450, TRANSIENT),
        fails(200, TIMEOUT),
        fails(300, THROTTLED),
    ];
    let mut seen = None;
    let outcome = call(&Server::new(script), &mut seen).await;
    assert_eq!(outcome, Err(THROTTLED));
    let errors = vec![TIMEOUT, TRANSIENT, THROTTLED];
    assert_eq!(seen.take(), Some((3, Reason::Exhausted, errors)));
    let stopped = Server::new([fails(250, TRANSIENT), answer(900), fails(10, STOP)]);
    assert_eq!(call(&stopped, &mut seen).await, Err(STOP));
    assert_eq!(seen, Some((3, Reason::NotRetryable, vec![TRANSIENT, STOP])));
}

#[tokio::test(start_paused = true)]
async fn the_same_error_counts_wherever_it_came() {
    asks!(fn call(), hedge = "200ms", max = 9, jitter = "none", repeats = 3, name = "call");

    for (script, now) in rows! {
        vec![fails(300, TRANSIENT), fails(100, TRANSIENT), fails(0, TRANSIENT)], 2_300;
        vec![fails(300, TRANSIENT), fails(100, TRANSIENT), fails(0, TIMEOUT), fails(0, TRANSIENT),
            fails(450, TRANSIENT), fails(250, TRANSIENT), fails(50, TRANSIENT)],
            2_300 + 4_000 + 8_000 + 450;
    } {
        let recording = testing::record();
        let (server, attempts) = (Server::new(script.clone()), script.len());
        assert_eq!(call(&server).await, Err(TRANSIENT));
        let seen = server.seen();
        assert_eq!((seen.began.len(), seen.now), (attempts, now));
        let last = recording.lines().pop().expect("one");
        assert!(last.ends_with("reason=repeated"), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_response_is_checked() {
    asks!(fn until(), hedge = "200ms", max = 3, jitter = "none", until = |number| *number > 2);
    asks!(fn validated(), hedge = "200ms", max = 3, backoff = "none", attempt = attempt, validate = |number| {
        assert_eq!(attempt.number() as usize, *number);
        if *number > 2 { Ok(()) } else { Err(TRANSIENT) }
    });
    asks!(fn corrected(), hedge = "200ms", max = 3, backoff = "none",
        validate = async |number| if *number > 2 { Ok(()) } else { Err(TRANSIENT) },
        correct = async |number, _| Ok(number + 1));

    let script = [answer(250), answer(900), answer(0)];
    let server = Server::new(script.clone());
    assert_eq!(until(&server).await, Ok(3));
    assert_eq!(server.seen(), seen(&[0, 200, 2_250], 1, 2_250));
    let server = Server::new(script.clone());
    assert_eq!(validated(&server).await, Ok(3));
    assert_eq!(server.seen().began.len(), 3);
    let server = Server::new(script);
    assert_eq!(corrected(&server).await, Ok(3));
    assert_eq!(server.seen().began, [0, 200]);
}

/// Twice as slow as tokio's, whose clock it has.
struct Slow(RefCell<Vec<Duration>>, Instant);

impl Timer for Slow {
    async fn sleep(&self, duration: Duration) {
        self.0.borrow_mut().push(duration);
        sleep(duration * 2).await;
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.1.elapsed() / 2)
    }
}

#[tokio::test(start_paused = true)]
async fn a_timer_sleeps_until_the_next_attempt() {
    asks!(fn call(timer: &Slow), hedge = "200ms", timer = timer, deadline = "399ms");
    asks!(fn closure(), hedge = "200ms", timer = |pause| sleep(pause * 3));

    let (server, timer) = (slow(), Slow(RefCell::default(), Instant::now()));
    assert_eq!(call(&server, &timer).await, Ok(1));
    assert_eq!(server.seen(), seen(&[0, 400], 1, 900));
    assert_eq!(since(timer.1), 900);
    assert_eq!(timer.0.into_inner(), [millis(200); 2]);
    let server = slow();
    assert_eq!(closure(&server).await, Ok(1));
    assert_eq!(server.seen(), seen(&[0, 600], 1, 900));
}
