use support::prelude::*;

/// The pauses of a call that fails every time.
fn pauses(policy: Policy, seed: u64) -> Vec<Duration> {
    #[retry(policy = policy)]
    fn call(script: &mut Script, policy: Policy) -> Result<usize, Failure> {
        script.next()
    }

    let _seeded = testing::seed(seed);
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut script = Script::new(vec![TRANSIENT; 1000]);
    assert_eq!(call(&mut script, policy), Err(TRANSIENT));
    recording.delays()
}

/// A hundred calls' pauses, of a policy with 6 retries, by retry.
fn many(policy: Policy) -> Vec<Vec<Duration>> {
    (0..100).map(|seed| pauses(policy.max(6), seed)).collect()
}

/// Checks that the draws are in the range, come close to both ends, and rarely coincide.
fn spread(draws: impl Iterator<Item = Duration>, low: Duration, high: Duration) {
    let mut draws: Vec<_> = draws.collect();
    draws.sort_unstable();
    let (least, most) = (draws[0], draws[draws.len() - 1]);
    let tenth = high.saturating_sub(low) / 10;
    let near = [low..=low + tenth, high.saturating_sub(tenth)..=high];
    assert!(near[0].contains(&least), "{least:?} of {low:?}–{high:?}");
    assert!(near[1].contains(&most), "{most:?} of {low:?}–{high:?}");
    draws.dedup();
    assert_eq!(draws.len(), 100, "a pile-up");
}

#[test]
fn each_kind_of_jitter_has_its_range() {
    type Bound = fn(Duration) -> Duration;

    let by_text: Policy = "cap=33s, jitter=+0.2".parse().unwrap();
    assert_eq!(by_text.to_string().parse(), Ok(by_text));
    assert!(by_text.to_string().contains("jitter=+0.2"), "{by_text}");
    let capped = Policy::new().cap(secs(10));
    for (policy, delays, low, high) in rows! {
        capped, [1, 2, 4, 8, 10, 10], (|_| secs(0)) as Bound, (|delay| delay) as Bound;
        Policy::new().floor(millis(500)), [1, 2, 4, 8, 16, 30], |_| millis(500), |delay| delay;
        capped.jitter(Jitter::Equal), [1, 2, 4, 8, 10, 10], |delay| delay / 2, |delay| delay;
        capped.jitter(Jitter::Ratio(0.2)), [1, 2, 4, 8, 10, 10],
            |delay| delay * 4 / 5, |delay| (delay * 6 / 5).min(secs(10));
        Policy::new().cap(secs(33)).jitter(Jitter::Added(0.2)), [1, 2, 4, 8, 16, 32],
            |delay| delay, |delay| (delay * 6 / 5).min(secs(33));
        by_text, [1, 2, 4, 8, 16, 32], |delay| delay, |delay| (delay * 6 / 5).min(secs(33));
    } {
        let draws = many(policy);
        for (retry, delay) in delays.map(secs).into_iter().enumerate() {
            let draws = draws.iter().map(|call| call[retry]);
            spread(draws, low(delay), high(delay));
        }
    }
}

#[test]
fn decorrelated_is_from_the_base_to_three_times_the_last() {
    let policy = Policy::new().cap(secs(10)).jitter(Jitter::Decorrelated);
    let draws = many(policy);
    spread(draws.iter().map(|call| call[0]), secs(1), secs(3));
    // The position of each delay, from 0 to 1, in the range that the previous delay allows.
    let mut places = Vec::new();
    for call in &draws {
        for pair in call.windows(2) {
            let high = (pair[0] * 3).min(secs(10));
            assert!(pair[1] >= secs(1) && pair[1] <= high, "{pair:?}");
            let above = |delay: Duration| delay.saturating_sub(secs(1));
            places.push(above(pair[1]).div_duration_f64(above(high)));
        }
    }
    assert_eq!(places.len(), 100 * 5);
    let middle = places.iter().sum::<f64>() / 500.0;
    assert!((0.45..0.55).contains(&middle), "{middle}");
    let mut last: Vec<_> = draws.iter().map(|call| call[5]).collect();
    last.sort_unstable();
    last.dedup();
    assert_eq!(last.len(), 100, "a pile-up");
}

#[test]
fn decorrelated_never_exceeds_a_cap_below_the_base() {
    let policy = Policy::new()
        .base(secs(9))
        .cap(secs(2))
        .jitter(Jitter::Decorrelated);
    assert_eq!(pauses(policy.max(3), 1), [secs(2); 3]);
}

#[test]
fn a_seed_gives_the_same_draws_and_another_others() {
    let ratio = Jitter::Ratio(0.5);
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated, ratio] {
        let policy = Policy::new().jitter(jitter);
        assert_eq!(pauses(policy, 1), pauses(policy, 1));
        assert_ne!(pauses(policy, 1), pauses(policy, 2));
    }
    // Every delay is drawn separately.
    let mut draws = pauses(Policy::fixed(secs(1)).max(50), 1);
    draws.sort_unstable();
    draws.dedup();
    assert_eq!(draws.len(), 50);
}

#[test]
fn words_and_ratios_in_the_attribute() {
    scripted! {
        #[retry(backoff = "fixed", jitter = "equal")] fn word();
        #[retry(backoff = "fixed", jitter = 0.1)] fn ratio();
        #[retry(backoff = "fixed", jitter = "+0.1")] fn added();
        #[retry(backoff = "fixed", jitter = 0.5 / 5.0)] fn expression();
        #[retry(base = "1s", jitter = "decorrelated")] fn decorrelated();
        #[retry(backoff = |_| secs(1), jitter = "equal")] fn of_a_function();
    }

    let run = |call: fn(&mut Script) -> Result<usize, Failure>| {
        let _seeded = testing::seed(3);
        let _skipped = testing::skip_sleeps();
        let recording = testing::record();
        assert_eq!(call(&mut Script::failing()), Err(TRANSIENT));
        recording.delays()
    };
    let fixed = |jitter| pauses(Policy::fixed(secs(1)).jitter(jitter), 3);
    assert_rows! {
        run(word) => fixed(Jitter::Equal);
        run(ratio) => fixed(Jitter::Ratio(0.1));
        run(added) => fixed(Jitter::Added(0.1));
        run(expression) => fixed(Jitter::Ratio(0.1));
        run(of_a_function) => fixed(Jitter::Equal);
        run(decorrelated) => pauses(Policy::new().jitter(Jitter::Decorrelated), 3);
    }
}

#[test]
fn a_policys_pauses_are_those_of_a_call() {
    let none = Jitter::None;
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated, none] {
        let policy = Policy::new().max(6).jitter(jitter);
        let of_call = pauses(policy, 7);
        let _seeded = testing::seed(7);
        let mut pauses = policy.pauses();
        assert_eq!(pauses.by_ref().collect::<Vec<_>>(), of_call);
        pauses.reset();
        assert!(pauses.next().unwrap() <= secs(3), "the first again");
        assert_eq!(pauses.count(), 5);
    }
}
