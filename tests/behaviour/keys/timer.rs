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

struct Client {
    timer: Rc<Recorder>,
}

impl Client {
    scripted! {
        #[retry(max = 2, jitter = "none", timer = &*self.timer)]
        async fn by_reference(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
        #[retry(max = 2, jitter = "none", timer = |pause| self.timer.sleep(pause))]
        async fn by_closure(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
    }
}

fn at_once(_: Duration) -> impl Future<Output = ()> {
    ready(())
}

scripted! { #[retry(max = 5, timer = at_once)] async fn by_path(); }

#[test]
fn needs_no_tokio() {
    let client = Client {
        timer: Rc::default(),
    };
    let run = |call: &dyn Fn() -> Result<usize, Failure>| assert_eq!(call(), Err(TRANSIENT));
    run(&|| smol::block_on(client.by_reference(&mut Script::new(vec![TRANSIENT; 9]))));
    assert_eq!(client.timer.0.take(), secs(3));
    run(&|| smol::block_on(client.by_closure(&mut Script::new(vec![TRANSIENT; 9]))));
    assert_eq!(client.timer.0.take(), secs(3));
    let mut script = Script::new(vec![TRANSIENT; 9]);
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
