use std::future::Future;
use std::time::Instant;

use support::prelude::*;

/// A timer that does not wait.
#[derive(Default)]
struct Recorder(Cell<Duration>);

impl Timer for Recorder {
    async fn sleep(&self, duration: Duration) {
        self.0.set(self.0.get() + duration);
    }
}

scripted! {
    #[retry(max = 5, timer = at_once)] async fn by_path();
    #[retry(max = 2, jitter = "none", timer = &**timer)] async fn by_reference(timer: &Rc<Recorder>);
    #[retry(max = 2, jitter = "none", timer = |pause| timer.sleep(pause))] async fn by_closure(timer: &Rc<Recorder>);
}

fn at_once(_: Duration) -> impl Future<Output = ()> {
    ready(())
}

#[test]
fn needs_no_tokio() {
    let timer = Rc::<Recorder>::default();
    let failing = || Script::new([TRANSIENT; 9]);
    let outcome = smol::block_on(by_reference(&timer, &mut failing()));
    assert_eq!((outcome, timer.0.take()), (Err(TRANSIENT), secs(3)));
    let outcome = smol::block_on(by_closure(&timer, &mut failing()));
    assert_eq!((outcome, timer.0.take()), (Err(TRANSIENT), secs(3)));
    let mut script = failing();
    assert_eq!(smol::block_on(by_path(&mut script)), Err(TRANSIENT));
    assert_eq!(script.attempts, 6);
}

#[test]
fn another_runtime_sleeps_and_times_out() {
    #[retry(max = 1, base = 5ms, jitter = "none", timeout = "10ms", timer = smol::Timer::after)]
    async fn call(attempts: &mut u32) -> Result<u32, Failure> {
        *attempts += 1;
        if *attempts == 1 {
            pending::<()>().await;
        }
        Ok(*attempts)
    }

    let start = Instant::now();
    assert_eq!(smol::block_on(call(&mut 0)), Ok(2));
    assert!(start.elapsed() >= millis(15));
}

#[test]
fn pointers_are_timers() {
    fn is_timer(_: &impl Timer) {}
    is_timer(&&Recorder::default());
    is_timer(&Arc::new(DefaultTimer));
}
