use std::time::Duration;

use retry_runtime::{Backoff, Jitter, retry, testing};
use tokio::time::Instant;

use crate::{Failure, Script, TRANSIENT, millis, secs};

macro_rules! shapes {
    ($($name:ident($($keys:tt)*) = $delays:expr;)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $name() {
                #[retry(jitter = "none", $($keys)*)]
                async fn call(script: &mut Script) -> Result<usize, Failure> {
                    script.next()
                }

                let delays: Vec<Duration> = $delays.into();
                let recording = testing::record();
                let start = Instant::now();
                let mut script = Script::new(vec![TRANSIENT; 100]);
                assert_eq!(call(&mut script).await, Err(TRANSIENT));
                assert_eq!(script.attempts, delays.len() + 1);
                assert_eq!(recording.delays(), delays);
                assert_eq!(start.elapsed(), delays.iter().sum());
            }
        )*
    };
}

shapes! {
    defaults() = [secs(1), secs(2), secs(4)];
    exponential(max = 7, backoff = "exp") =
        [secs(1), secs(2), secs(4), secs(8), secs(16), secs(30), secs(30)];
    by_a_factor(max = 4, factor = 10, base = 5ms, cap = "1s") =
        [millis(5), millis(50), millis(500), secs(1)];
    by_a_fraction(max = 3, factor = 1.5, base = "100ms") = [millis(100), millis(150), millis(225)];
    by_a_factor_of_one(max = 2, factor = 1.0, base = 1.5s) = [millis(1500), millis(1500)];
    fixed(max = 3, backoff = "fixed", base = "1m30s", cap = 2m) = [secs(90); 3];
    linear(max = 4, backoff = "linear", base = "250ms", cap = "600ms") =
        [millis(250), millis(500), millis(600), millis(600)];
    fibonacci(max = 8, backoff = "fibonacci", cap = "10s") =
        [secs(1), secs(1), secs(2), secs(3), secs(5), secs(8), secs(10), secs(10)];
    by_expressions(
        max = 1 + 1,
        backoff = if cfg!(test) { Backoff::Linear } else { Backoff::Fixed },
        base = Duration::from_millis(10) * 10,
        factor = 3_u8,
        cap = secs(1),
    ) = [millis(100), millis(200)];
    zero(max = 2, base = "0s") = [secs(0); 2];
}

#[tokio::test(start_paused = true)]
async fn none() {
    #[retry(max = 3, backoff = "none")]
    async fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let recording = testing::record();
    let mut script = Script::new(vec![TRANSIENT; 100]);
    assert_eq!(call(&mut script).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 4);
    assert_eq!(recording.delays(), [Duration::ZERO; 3]);
}

#[test]
fn endless_calls_end_at_the_cap() {
    #[retry(max = 2000, factor = 1e300, jitter = Jitter::None, cap = 1h)]
    fn call(script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    let skipped = testing::skip_sleeps();
    let mut script = Script::new(vec![TRANSIENT; 5000]);
    assert_eq!(call(&mut script), Err(TRANSIENT));
    assert_eq!(script.attempts, 2001);
    assert_eq!(skipped.total(), secs(1) + secs(3600) * 1999);
}
