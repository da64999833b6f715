//! Properties of every policy and text: printing and parsing agree, nothing panics, no delay exceeds its cap.

use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use retry_runtime::configuration::Overrides;
use support::prelude::*;

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 0..10_u32, Just(u32::MAX), Just(u32::MAX - 1)]
}

fn backoff() -> impl Strategy<Value = Backoff> {
    let shapes = vec![
        Backoff::Exponential,
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Fibonacci,
        Backoff::None,
    ];
    // Few lists, because each one is kept in memory.
    let list = vec((0..5_u64).prop_map(Duration::from_secs), 0..4);
    prop_oneof![
        5 => select(shapes),
        1 => list.prop_map(|delays| Backoff::list(&delays)),
    ]
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        any::<Duration>(),
        (0..100_000_u64).prop_map(Duration::from_millis),
        Just(Duration::ZERO),
        Just(Duration::MAX),
    ]
}

fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![1.0..100.0, 1.0..f64::MAX, Just(f64::MAX), Just(2.0)]
}

fn jitter(ratio: impl Strategy<Value = f64>) -> impl Strategy<Value = Jitter> {
    let of_ratio = select(vec![Jitter::Ratio as fn(f64) -> Jitter, Jitter::Added]);
    let words = vec![
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::None,
    ];
    prop_oneof![
        select(words),
        (ratio, of_ratio).prop_map(|(ratio, of)| of(ratio))
    ]
}

fn ratio() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=1.0, Just(0.0), Just(1.0), Just(f64::MIN_POSITIVE)]
}

/// A section whose `base` is not above its `cap`, with what it takes from the policy.
fn section(base: Duration, cap: Duration) -> BoxedStrategy<Section> {
    let numbers = (
        option::of(count()),
        option::of(backoff()),
        option::of(duration()),
        option::of(factor()),
        option::of(duration()),
        option::of(jitter(ratio())),
    );
    // Boxed, because four nested ones would overflow a test's stack.
    numbers
        .prop_map(move |(max, backoff, own_base, factor, own_cap, jitter)| {
            let section = Section::new();
            let section = max.map_or(section, |max| section.max(max));
            let section = backoff.map_or(section, |backoff| section.backoff(backoff));
            let section = factor.map_or(section, |factor| section.factor(factor));
            let section = jitter.map_or(section, |jitter| section.jitter(jitter));
            match (own_base, own_cap) {
                (None, None) => section,
                (Some(own), None) => section.base(own.min(cap)),
                (None, Some(own)) => section.cap(own.max(base)),
                (Some(a), Some(b)) => section.base(a.min(b)).cap(a.max(b).max(base)),
            }
        })
        .boxed()
}

/// A `base` and a `cap` above it. With a list there is no base, so sections start from the default.
fn bounds(backoff: Backoff, a: Duration, b: Duration) -> (Duration, Duration) {
    match backoff {
        Backoff::List(_) => (Duration::from_secs(1), a.max(Duration::from_secs(1))),
        _ => (a.min(b), a.max(b)),
    }
}

prop_compose! {
    fn policy_in_range()(
        max in count(),
        backoff in backoff(),
        (a, b) in (duration(), duration()),
        factor in factor(),
        jitter in jitter(ratio()),
        hint in select(vec![Hint::Honor, Hint::Clamp, Hint::Exact, Hint::Ignore]),
        max_hint in duration(),
        timeout in option::of(duration()),
        deadline in option::of(duration()),
        enabled in any::<bool>(),
    )(
        [transient, throttled, timed_out, invalid, rejected] in {
            let (base, cap) = bounds(backoff, a, b);
            [(); 5].map(|()| section(base, cap))
        },
        (base, cap) in Just(bounds(backoff, a, b)),
        // No section's cap is below the base.
        floor in option::of(1..10_u32),
        policy in Just(Policy::new().max(max).backoff(backoff).factor(factor).jitter(jitter).hint(hint).max_hint(max_hint).enabled(enabled)),
        timeout in Just(timeout),
        deadline in Just(deadline),
    ) -> Policy {
        let policy = policy.base(base).cap(cap);
        let policy = policy.transient(transient).throttled(throttled).timed_out(timed_out).invalid(invalid).rejected(rejected);
        let policy = floor.map_or(policy, |part| policy.floor(base / part));
        let timeout = timeout.filter(|timeout| !timeout.is_zero());
        let policy = timeout.map_or(policy, |timeout| policy.timeout(timeout));
        let Some(deadline) = deadline.filter(|deadline| !deadline.is_zero()) else {
            return policy;
        };
        let limited = policy.deadline(deadline);
        match limited.to_string().parse::<Policy>() {
            // None that no retry could meet.
            Err(error) if error.to_string().starts_with("the first retry would come too late") => policy,
            _ => limited,
        }
    }
}

prop_compose! {
    fn any_policy()(
        max in count(),
        backoff in backoff(),
        base in duration(),
        factor in ANY,
        cap in duration(),
        floor in duration(),
        jitter in jitter(ANY),
    ) -> Policy {
        Policy::new().max(max).backoff(backoff).base(base).factor(factor).cap(cap).floor(floor).jitter(jitter)
    }
}

/// Texts that are nearly policies, which random characters never are.
fn fragments() -> impl Strategy<Value = String> {
    let fragments = "max backoff base factor cap floor jitter hint max_hint timeout deadline enabled false throttled \
        transient backoff unlimited exp full = = ( ) , , [ ] \" . - é 0 0.2 5 5s w s ns µs 1e400 1000000000ns \
        18446744073709551615";
    let fragments: Vec<_> = fragments.split_whitespace().chain([" "]).collect();
    vec(select(fragments), 0..24).prop_map(|parts| parts.concat())
}

/// The hardest cases are sums that just exceed the longest duration.
fn duration_part() -> impl Strategy<Value = String> {
    let extremes = "18446744073709551615s,1000000000ns,213503d,30500w,0.5h,1s, ";
    prop_oneof![
        select(extremes.split(',').collect::<Vec<_>>()).prop_map(String::from),
        "[0-9]{1,20}\\.?[0-9]{0,3} ?(ns|us|µs|ms|s|m|h|d|w|M|y|sec|)",
    ]
}

#[test]
fn policies_are_equal_where_every_key_is() {
    assert_eq!(Policy::new(), Policy::new().max(3));
    assert_ne!(Policy::new(), Policy::new().max(4));
}

/// Arguments of setters, with the equivalent text.
fn setters_and_text() -> impl Strategy<Value = (Policy, String)> {
    let millis = || (0..60_000_u64).prop_map(Duration::from_millis);
    let number = || {
        prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(0.123_456_789_1),
            -0.5..2.5
        ]
    };
    let section = (millis(), number());
    let times = (millis(), millis(), millis(), millis());
    (times, number(), number(), section).prop_map(
        |((base, cap, floor, deadline), factor, ratio, (throttled, steep))| {
            let policy = Policy::new()
                .base(base)
                .factor(factor)
                .cap(cap)
                .jitter(Jitter::Ratio(ratio))
                .floor(floor)
                .deadline(deadline)
                .throttled(Section::new().factor(steep).base(throttled));
            let [base, cap, floor, deadline, throttled] =
                [base, cap, floor, deadline, throttled].map(|time| time.as_millis());
            let text = format!(
                "base={base}ms, factor={factor}, cap={cap}ms, jitter={ratio}, floor={floor}ms, \
                 deadline={deadline}ms, throttled(factor={steep}, base={throttled}ms)"
            );
            (policy, text)
        },
    )
}

proptest! {
    #[test]
    fn checked_rejects_the_same_values_as_text((policy, text) in setters_and_text()) {
        let read = text.parse::<Policy>();
        prop_assert_eq!(policy.try_checked().ok(), read.ok(), "{}", text);
    }

    #[test]
    fn printed_policies_are_parsed_back(policy in policy_in_range()) {
        let text = policy.to_string();
        prop_assert_eq!(text.parse(), Ok(policy), "{}", text);
    }

    #[test]
    fn no_text_panics(text in prop_oneof![any::<String>(), fragments()]) {
        if let Ok(named) = text.parse::<Overrides>() {
            prop_assert_eq!(named.to_string().parse(), Ok(named));
        }
    }

    #[test]
    fn no_duration_panics(parts in vec(duration_part(), 1..5)) {
        let _ = format!("cap={}", parts.concat()).parse::<Overrides>();
    }

    #[test]
    fn no_delay_exceeds_the_cap(policy in any_policy(), cap in duration()) {
        for delay in policy.cap(cap).delays().take(200) {
            prop_assert!(delay <= cap, "{:?} is above {:?}", delay, cap);
        }
    }

    /// Printing and parsing don't panic even if a setter got a value that isn't allowed in text.
    #[test]
    fn all_values_of_setters_can_be_printed(policy in any_policy()) {
        let _ = policy.to_string().parse::<Policy>();
    }
}
