//! Work that continues after its attempt was dropped.

use retry_protections::DetachedWork;
use support::prelude::*;

use crate::limiters::secs;

/// Makes one attempt at a time, each dropped after a second, with work that takes three seconds. Returns the start
/// times.
async fn call(limiter: &'static ConcurrencyLimiter, guards: usize) -> Vec<u64> {
    let (start, began) = (Instant::now(), Mutex::new(Vec::new()));
    let work = DetachedWork::new(limiter);
    let outcome = retrying!(
        max = 2,
        backoff = "none",
        timeout = "1s",
        limiter = &work,
        async {
            began.lock().unwrap().push(start.elapsed().as_secs());
            let guards: Vec<_> = (0..guards).map(|_| work.guard()).collect();
            let mut ends = 3;
            for guard in guards {
                tokio::spawn(async move {
                    let _guard = guard;
                    sleep(secs(ends)).await;
                });
                ends -= 1;
            }
            sleep(secs(9)).await;
            io::Result::Ok(())
        }
    );
    assert_eq!(outcome.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    began.into_inner().unwrap()
}

#[tokio::test(start_paused = true)]
async fn work_keeps_its_slot_and_delays_the_retry_until_it_is_done() {
    static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd().start(1).most(1);
    // Without a guard, the slot is not held.
    assert_eq!(call(&LIMITER, 0).await, [0, 1, 2]);
    assert_eq!(LIMITER.running(), 0);
    for guards in [1, 2] {
        assert_eq!(call(&LIMITER, guards).await, [0, 3, 6], "{guards} guards");
        // The last attempt was dropped a second after its start.
        assert_eq!(LIMITER.running(), 1);
        sleep(secs(3)).await;
        assert_eq!(LIMITER.running(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_never_ends_ends_the_call_at_its_deadline() {
    static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::aimd();
    let work = DetachedWork::new(&LIMITER);
    let held = Mutex::new(Vec::new());
    let start = Instant::now();
    let outcome = retrying!(timeout = "1s", deadline = "10s", limiter = &work, async {
        held.lock().unwrap().push(work.guard());
        sleep(secs(9)).await;
        io::Result::Ok(())
    });
    let error = outcome.await.unwrap_err();
    assert_eq!(error.to_string(), "timed out after 1s");
    assert_eq!(start.elapsed(), secs(10));
    assert_eq!((held.lock().unwrap().len(), LIMITER.running()), (1, 1));
}
