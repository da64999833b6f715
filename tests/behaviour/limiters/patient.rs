//! Calls that wait while a breaker is open.

use futures::future::{join, join_all};
use support::held_permit::hinted;
use support::prelude::*;

use crate::limiters::{TRANSIENT as END, ended, millis, secs};

const MINUTE: Duration = Duration::from_mins(1);

/// Opens at the first failure.
fn of_one() -> Breaker {
    Breaker::new().count_window(1).max_wait(MINUTE)
}

/// Has just opened.
async fn opened() -> Breaker {
    let breaker = of_one();
    ended(&breaker, 1, END).await;
    breaker
}

#[tokio::test(start_paused = true)]
async fn two_workers_outlast_an_outage() {
    scripted! {
        #[retry(max = "unlimited", backoff = "none", name = "call", limiter = breaker)]
        async fn work(breaker: &Breaker, start: Instant) = {
            sleep(millis(100)).await;
            if start.elapsed() < secs(12) { Err(TRANSIENT) } else { Ok(()) }
        };
    }

    let recording = testing::record();
    let (breaker, start) = (of_one(), Instant::now());
    let ended = join(work(&breaker, start), work(&breaker, start)).await;
    assert_eq!(ended, (Ok(()), Ok(())));
    assert_eq!(breaker.state(), BreakerState::Closed);
    // The breaker opens at 0.1 s for 5 s, and again after trials at 5.2 s and 10.3 s; the third trial closes it, and
    // the other call is next.
    assert_eq!(start.elapsed().as_millis() / 100, 155);
    let lines = recording.lines();
    let count = |start| lines.iter().filter(|line| line.starts_with(start)).count();
    let changes = ["breaker opened", "breaker half open", "breaker closed"].map(count);
    assert_eq!(changes, [3, 3, 1], "{lines:#?}");
}

/// An attempt of this duration. Returns the time at which it began, in milliseconds.
#[retry(max = 0, limiter = breaker)]
async fn work(breaker: &Breaker, lasts: Duration, start: Instant) -> Result<u128, Failure> {
    let begun = start.elapsed().as_millis();
    if !lasts.is_zero() {
        sleep(lasts).await;
    }
    Ok(begun)
}

/// When an operator closes it after 10.5 s, the waiting calls continue, and others wait at most their maximum.
#[tokio::test(start_paused = true)]
async fn an_operator_s_reset_ends_the_wait() {
    let hint = hinted(Kind::Transient, MINUTE);
    for (is_forced, max_wait, end, after) in [
        (false, 2 * MINUTE, Ok(()), 10_500),
        (true, 2 * MINUTE, Ok(()), 10_500),
        (false, secs(50), Err(STOP), 0),
        (true, millis(5500), Err(STOP), 5500),
    ] {
        let breaker = of_one().max_wait(max_wait);
        ended(&breaker, 1, hint).await;
        if is_forced {
            breaker.force_open();
        }
        let start = Instant::now();
        let operator = async {
            sleep(millis(10_500)).await;
            breaker.reset();
        };
        let call = async {
            let result = work(&breaker, secs(0), start).await;
            (result.map(drop), start.elapsed().as_millis())
        };
        assert_eq!(join(call, operator).await.0, (end, after));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_no_longer_than_max_wait() {
    scripted! {
        #[retry(max = 0, deadline = deadline, cancel = sleep(cancelled), limiter = breaker)]
        async fn work(breaker: &Breaker, deadline: Duration, cancelled: Duration) = Ok(());
    }

    for (max_wait, deadline, cancelled, end, after) in [
        (MINUTE, MINUTE, MINUTE, Ok(()), 5000),
        (secs(4), MINUTE, MINUTE, Err(STOP), 0),
        (secs(0), MINUTE, MINUTE, Err(STOP), 0),
        (MINUTE, secs(4), MINUTE, Err(STOP), 0),
        (MINUTE, MINUTE, secs(4), Err(STOP), 4000),
    ] {
        let breaker = of_one().max_wait(max_wait);
        ended(&breaker, 1, END).await;
        let start = Instant::now();
        assert_eq!(work(&breaker, deadline, cancelled).await, end);
        assert_eq!(start.elapsed().as_millis(), after);
    }
}

/// Counts how often it is asked.
struct Asked<'a>(&'a Breaker, &'a Cell<u32>);

impl AdmissionControl for Asked<'_> {
    fn enter(&self, cost: u32) -> Permit {
        self.0.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        self.1.set(self.1.get() + 1);
        self.0.poll(permit, waker)
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        self.0.leave(permit, outcome)
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.0.longest_wait()
    }
}

/// After it closes for any reason, two calls start at once, and each second as many more as before. While it isn't
/// closed, calls rarely poll.
#[tokio::test(start_paused = true)]
async fn waiting_calls_restart_gradually() {
    scripted! {
        #[retry(max = 0, limiter = Asked(breaker, asked))]
        async fn work(breaker: &Breaker, asked: &Cell<u32>, begun: &RefCell<Vec<u128>>, start: Instant) = {
            begun.borrow_mut().push(start.elapsed().as_millis());
            sleep(secs(4)).await;
            Ok(())
        };
    }

    for (is_reset, trial, closed) in [(false, Some(5000), 9000), (true, None, 3000)] {
        let breaker = opened().await;
        let (asked, begun, start) = (Cell::new(0), RefCell::default(), Instant::now());
        let workers = 16 + usize::from(!is_reset);
        let work = || work(&breaker, &asked, &begun, start);
        let operator = async {
            sleep(secs(3)).await;
            if is_reset {
                breaker.reset();
            }
        };
        join(join_all((0..workers).map(|_| work())), operator).await;
        let after = [0, 0, 585, 1000, 1322, 1585, 1807, 2000];
        let expected = trial.into_iter().chain(after.map(|after| closed + after));
        let begun = begun.into_inner();
        let close = |(left, right): (&u128, u128)| left.abs_diff(right) <= 1;
        assert!(begun.iter().zip(expected).all(close), "{begun:?}");
        assert!(begun[workers - 1].abs_diff(closed + 3000) <= 1, "{begun:?}");
        assert!(asked.get() < 400, "{asked:?}");
    }
}

/// A trial call that never ends keeps the next one no longer than `open_for`.
#[tokio::test(start_paused = true)]
async fn a_hung_trial_does_not_block_waiters() {
    let breaker = opened().await;
    let start = Instant::now();
    let work = |lasts| work(&breaker, lasts, start);
    let begun = join(work(60 * MINUTE), work(millis(1))).await;
    assert_eq!(begun, (Ok(5000), Ok(10_000)));
}

/// A call that starts while the breaker is closed does not queue behind calls that waited while it was open.
#[tokio::test(start_paused = true)]
async fn a_call_that_starts_while_it_is_closed_does_not_queue() {
    let breaker = opened().await;
    let start = Instant::now();
    let waiting = join_all((0..9).map(|_| work(&breaker, secs(0), start)));
    let late = async {
        sleep(secs(1)).await;
        breaker.reset();
        work(&breaker, secs(0), start).await
    };
    let (begun, late) = join(waiting, late).await;
    assert_eq!(late, Ok(1000));
    assert!(begun[8].as_ref().unwrap() > &2000, "{begun:?}");
}
