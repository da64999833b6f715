//! Runtimes other than tokio: the timer that the guide names for each sleeps there, and ends an attempt that takes too
//! long.

use std::time::Instant;

use support::prelude::*;

macro_rules! sleeps {
    ($($runtime:ident: $timer:expr, $block_on:expr;)*) => {$(
        #[test]
        fn $runtime() {
            #[retry(max = 1, base = 20ms, jitter = "none", timeout = 5ms, timer = $timer, on = |_| true)]
            async fn call(attempts: &mut u32) -> Result<u32, TimedOut> {
                *attempts += 1;
                if *attempts == 1 {
                    pending::<()>().await;
                }
                Ok(*attempts)
            }

            let start = Instant::now();
            assert_eq!($block_on(call(&mut 0)), Ok(2));
            assert!(start.elapsed() >= Duration::from_millis(25));
        }
    )*};
}

sleeps! {
    async_global_executor: async_io::Timer::after, async_global_executor::block_on;
    compio: compio::time::sleep, |call| compio::runtime::Runtime::new().unwrap().block_on(call);
    any_executor: futures_timer::Delay::new, async_io::block_on;
    monoio: monoio::time::sleep, |call| {
        let builder = monoio::RuntimeBuilder::<monoio::LegacyDriver>::new();
        builder.enable_timer().build().unwrap().block_on(call)
    };
}
