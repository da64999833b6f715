//! Properties of each gate, for any sequence of steps, even with a clock that stops or runs backwards.

use std::time::Duration;

use proptest::prelude::*;

use retry_runtime::Kind;
use retry_runtime::seam::{AttemptOutcome, Moment};

use crate::limiter::concurrency_limiter::ConcurrencyLimiter;
use crate::limiter::gate::{Gate, Paced};
use crate::limiter::quota::Quota;
use crate::limiter::rate_limiter::RateLimiter;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The clock moves forward, or back.
    Time {
        nanos: u64,
        back: bool,
    },
    Begin {
        cost: u32,
    },
    /// A running attempt ends.
    End {
        which: prop::sample::Index,
        outcome: AttemptOutcome,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let nanos = prop_oneof![
        Just(0),
        0..1000_u64,
        0..3_000_000_000_u64,
        0..100_000_000_000_000_u64
    ];
    let cost = prop_oneof![Just(0), Just(1), 1..100_u32, any::<u32>()];
    let hint = prop::option::of((0..200_000_u64).prop_map(Duration::from_millis));
    let kinds = prop::sample::select(&[Kind::Transient, Kind::Throttled, Kind::Timeout][..]);
    let outcome = prop_oneof![
        4 => Just(AttemptOutcome::Success),
        4 => (kinds, hint).prop_map(|(kind, hint)| AttemptOutcome::Failure { kind, hint }),
        1 => Just(AttemptOutcome::Ignored),
        1 => Just(AttemptOutcome::NotBegun),
    ];
    let back = prop::bool::weighted(0.1);
    prop_oneof![
        3 => (nanos, back).prop_map(|(nanos, back)| Step::Time { nanos, back }),
        3 => cost.prop_map(|cost| Step::Begin { cost }),
        3 => (any::<prop::sample::Index>(), outcome).prop_map(|(which, outcome)| Step::End { which, outcome }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..60)
}

/// The cost and stamp of each running attempt.
type Running = Vec<(u32, u32)>;

/// Runs the steps, and calls `look` after each. An attempt that has to wait starts after that wait, unless it waits for
/// another attempt to end.
fn run<G: Gate>(
    gate: &mut G,
    longest: Duration,
    steps: Vec<Step>,
    mut look: impl FnMut(&mut G, Moment, &Running),
) -> Result<(), TestCaseError> {
    let mut now = Duration::from_secs(1_000_000_000);
    let mut running = Running::new();
    for step in steps {
        match step {
            Step::Time { nanos, back } => {
                let nanos = Duration::from_nanos(nanos);
                now = if back {
                    now.saturating_sub(nanos)
                } else {
                    now + nanos
                };
            }
            Step::Begin { cost } => {
                let mut admitted = gate.admit(cost, || Moment::from_origin(now));
                if let Err(Some(wait)) = admitted {
                    prop_assert!(!wait.is_zero());
                    prop_assert!(wait <= longest, "{wait:?}");
                    now += wait;
                    admitted = gate.admit(cost, || Moment::from_origin(now));
                    prop_assert!(
                        admitted.is_ok(),
                        "{cost} waited {wait:?}, then {admitted:?}"
                    );
                }
                match admitted {
                    Ok(stamp) => running.push((cost, stamp)),
                    Err(_) => prop_assert!(!running.is_empty(), "waits for ever"),
                }
            }
            Step::End { which, outcome } => {
                if !running.is_empty() {
                    let (cost, stamp) = running.swap_remove(which.index(running.len()));
                    gate.leave(cost, stamp, outcome, || Moment::from_origin(now));
                }
            }
        }
        look(gate, Moment::from_origin(now), &running);
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_adaptive_rate_is_within_its_bounds(
        steps in steps(),
        start in any::<f64>(),
        least in any::<f64>(),
        most in any::<f64>(),
    ) {
        let mut gate = RateLimiter::adaptive().start(start).least(least).most(most).0.new;
        // A minute for the rate, and a minute for a clock that is behind.
        run(&mut gate, Duration::from_secs(120), steps, |gate, now, _| {
            let rate = gate.rate();
            assert!(rate > 0.0);
            assert!(rate >= least || least.is_nan(), "{rate}");
            let most = if most.is_nan() { 0.0 } else { most };
            assert!(rate <= most.max(least).max(f64::MIN_POSITIVE), "{rate}");
            assert!(!gate.available(now).is_nan());
        })?;
    }

    #[test]
    fn a_limit_is_within_its_bounds_and_never_exceeded(
        steps in steps(),
        start in any::<u32>(),
        bounds in (any::<u32>(), any::<u32>()),
    ) {
        let limiter = ConcurrencyLimiter::aimd().least(bounds.0).most(bounds.1).start(start);
        let mut gate = limiter.0.new;
        let (least, most) = (bounds.0.min(bounds.1).max(1), bounds.1.max(1));
        let mut highest = 0;
        run(&mut gate, Duration::ZERO, steps, |gate, _, running| {
            let limit = gate.limit();
            assert!((least..=most).contains(&limit), "{limit}");
            highest = highest.max(limit);
            let sum: u64 = running.iter().map(|(cost, _)| u64::from(*cost)).sum();
            assert_eq!(gate.running, sum);
            let paid = running.iter().filter(|(cost, _)| *cost > 0).count();
            assert!(sum <= u64::from(highest) || paid == 1, "{sum} of {highest}");
        })?;
    }

    #[test]
    fn any_quota_lets_go_on(
        steps in steps(),
        requests in prop::option::of(any::<u32>()),
        units in any::<u32>(),
        period in prop_oneof![0..100_000_000_000_u64, any::<u64>()],
        burst in any::<u32>(),
        reported in prop::collection::vec((any::<u32>(), any::<u32>(), prop::option::of(any::<u32>())), 1..5),
    ) {
        let period = Duration::from_nanos(period);
        let mut gate = Quota::new(requests, units, period).burst(burst);
        let mut reported = reported.into_iter().cycle();
        run(&mut gate, Duration::from_secs(1 << 60), steps, |gate, now, _| {
            if let Some((cost, used, remains)) = reported.next() {
                gate.units.settle(cost, used % 1_000_000, now);
                gate.lower_all(remains, remains, now);
            }
            assert!(gate.available(now) >= 0.0);
        })?;
    }

    /// On a clock that only moves forward, the attempts that start within any time never exceed the burst plus the
    /// amount that accumulates in that time.
    #[test]
    fn a_quota_is_never_exceeded(
        begins in prop::collection::vec((0..5_000_u64, 0..50_u32), 2..100),
        requests in 1..100_u32,
        units in 1..2_000_u32,
        burst in 1..20_u32,
    ) {
        let minute = Duration::from_secs(60);
        let mut gate = Quota::new(Some(requests), units, minute).burst(burst);
        let mut now = Duration::from_secs(1_000);
        let mut begun: Vec<(f64, f64)> = Vec::new();
        for (pause, cost) in begins {
            now += Duration::from_millis(pause);
            if let Err(Some(wait)) = gate.admit(cost, || Moment::from_origin(now)) {
                now += wait;
                prop_assert!(gate.admit(cost, || Moment::from_origin(now)).is_ok());
            }
            begun.push((now.as_secs_f64(), f64::from(cost)));
        }
        let burst_of_units = f64::from(burst) / f64::from(requests) * f64::from(units);
        for first in 0..begun.len() {
            let mut sum = 0.0;
            let mut many = 0.0;
            for last in first..begun.len() {
                let span = begun[last].0 - begun[first].0;
                many += 1.0;
                prop_assert!(many <= f64::from(burst) + span / 60.0 * f64::from(requests) + 1e-6);
                // The last attempt may cost more than a burst holds: later ones then wait.
                let brought = burst_of_units + span / 60.0 * f64::from(units) + 1e-3;
                prop_assert!(sum <= brought, "{sum} in {span} s, {brought}");
                sum += begun[last].1;
            }
        }
    }
}
