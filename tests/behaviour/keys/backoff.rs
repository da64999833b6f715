use support::prelude::*;

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

const LIST: &[Duration] = &[secs(3), secs(4)];

mod delays {
    pub(super) fn doubled(retry: u32) -> super::Duration {
        super::secs(2) * retry
    }
}

shapes! {
    defaults() = [secs(1), secs(2), secs(4)];
    exponential(max = 7, backoff = "exp") =
        [secs(1), secs(2), secs(4), secs(8), secs(16), secs(30), secs(30)];
    by_a_factor(max = 4, factor = 10, base = 5ms, cap = "1s") =
        [millis(5), millis(50), millis(500), secs(1)];
    by_a_fraction(max = 3, factor = 1.5, base = "100ms") = [millis(100), millis(150), millis(225)];
    by_a_factor_of_one(max = 2, factor = 1.0, base = 1.5s) = [millis(1500), millis(1500)];
    by_a_huge_factor(max = 99, factor = 1e300, cap = 1h) = [vec![secs(1)], vec![secs(3600); 98]].concat();
    fixed(max = 3, backoff = "fixed", base = "1m30s", cap = 2m) = [secs(90); 3];
    linear(max = 4, backoff = "linear", base = "250ms", cap = "600ms") =
        [millis(250), millis(500), millis(600), millis(600)];
    fibonacci(max = 8, backoff = "fibonacci", cap = "10s") =
        [secs(1), secs(1), secs(2), secs(3), secs(5), secs(8), secs(10), secs(10)];
    by_expressions(
        max = 1 + 1,
        backoff = if cfg!(test) { Backoff::Linear } else { Backoff::Fixed },
        base = millis(10) * 10,
        factor = 3_u8,
        cap = secs(1),
    ) = [millis(100), millis(200)];
    zero(max = 2, base = "0s") = [secs(0); 2];
    list(max = 4, backoff = ["1s", "5s", 30s]) = [secs(1), secs(5), secs(30), secs(30)];
    list_above_the_default_cap(max = 2, backoff(["1m", "5m"])) = [secs(60), secs(300)];
    list_above_a_cap(max = 2, backoff = ["1s", "1m"], cap = "10s") = [secs(1), secs(10)];
    // It has no base, and so none above the cap.
    list_under_a_small_cap(max = 2, backoff = ["5ms", "1s"], cap = "100ms") = [millis(5), millis(100)];
    list_for_a_kind(max = 3, base = "7s", transient(backoff = ["2s", "3s"])) =
        [secs(2), secs(3), secs(3)];
    list_with_an_expression(transient(max = 1 + 1, backoff = ["2s", "3s"])) = [secs(2), secs(3)];
    list_by_expression(max = 2, backoff = Backoff::List(&LIST)) = LIST;
    // The default cap does not clip them.
    by_a_closure(max = 4, backoff = |retry| secs(40) * retry) = [40, 80, 120, 160].map(secs);
    by_a_path(max = 3, backoff = delays::doubled) = [secs(2), secs(4), secs(6)];
    floor(max = 3, base = "50ms", floor = "150ms") = [millis(150), millis(150), millis(200)];
    floor_by_expression(max = 2, base = "50ms", floor = millis(100) / 2) = [millis(50), millis(100)];
    floor_without_delays(max = 2, floor = "1s", transient(backoff = "none")) = [secs(0); 2];
}

#[tokio::test(start_paused = true)]
async fn other_keys_apply_to_the_delays_of_a_function() {
    scripted! {
        #[retry(max = 3, backoff = |retry| { asked.push(retry); secs(1) * retry }, cap = "2s", floor = "1500ms",
            jitter = "none", throttled(backoff = "fixed", base = "2s"))]
        async fn call(asked: &mut Vec<u32>);
    }

    let recording = testing::record();
    let mut asked = Vec::new();
    let mut script = Script::new([TRANSIENT, Failure(Verdict::THROTTLED), TRANSIENT]);
    assert_eq!(call(&mut asked, &mut script).await, Ok(4));
    assert_eq!(recording.delays(), [1500, 2000, 2000].map(millis));
    // A section with a shape of its own does not ask.
    assert_eq!(asked, [1, 3]);
}
