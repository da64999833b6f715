//! A `Latency`: its input, its estimates, and its effect on the slowest calls.

use proptest::prelude::*;
use retry_protections::{Latency, Quantile};
use support::prelude::*;

use crate::hedge::{Server, answer, fails, millis, seen, since};

asks!(fn call(latency: &Latency), hedge = latency.quantile(0.95), max = 1);

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_before_there_are_enough_samples() {
    let latency = Latency::new();
    for made in 0..100 {
        assert_eq!(latency.quantile(0.95).get(), None);
        let server = Server::new([answer(if made < 5 { 900 } else { made })]);
        assert_eq!(call(&server, &latency).await, Ok(1));
    }
    assert_eq!(latency.quantile(0.95).get(), Some(millis(99)));
    let server = Server::new([answer(900), answer(10)]);
    assert_eq!(call(&server, &latency).await, Ok(2));
    assert_eq!(server.seen(), seen(&[0, 99], 1, 109));
}

#[tokio::test(start_paused = true)]
async fn each_provider_has_its_own_latency() {
    asks!(fn call(latencies: &Keyed<char, Latency>, provider: char),
        hedge = Quantile::new(latencies.of(&provider), 0.95), max = 1);

    let latencies = Keyed::new(2, Latency::new);
    for provider in ['a', 'b'] {
        for _ in 0..99 {
            let server = Server::new([answer(10)]);
            assert_eq!(call(&server, &latencies, provider).await, Ok(1));
        }
    }
    let server = Server::new([answer(20)]);
    assert_eq!(call(&server, &latencies, 'a').await, Ok(1));
    // The latencies of different providers are independent.
    for (provider, attempts) in [('a', 2), ('b', 1)] {
        let server = Server::new([answer(900), answer(5)]);
        assert_eq!(call(&server, &latencies, provider).await, Ok(attempts));
    }
    // A latency with too few attempts for an estimate is replaced.
    let latencies = Keyed::new(2, Latency::new);
    (0..99).for_each(|_| latencies.of(&'a').record(millis(1)));
    (0..100).for_each(|_| latencies.of(&'b').record(millis(1)));
    latencies.of(&'c');
    assert_eq!(latencies.len(), 2);
    assert!(latencies.of(&'b').quantile(0.95).get().is_some());
    assert!(latencies.of(&'a').quantile(0.95).get().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_latency_unused_for_ten_minutes_makes_room() {
    let providers: Keyed<char, Latency> = Keyed::new(1, Latency::new);
    (0..100).for_each(|_| providers.of(&'a').record(millis(1)));
    let shared = providers.of(&'b');
    advance(millis(60_000)).await;
    assert!(providers.of(&'a').quantile(0.95).get().is_some());
    advance(millis(599_000)).await;
    assert!(Arc::ptr_eq(&providers.of(&'b'), &shared));
    advance(millis(1_000)).await;
    assert!(!Arc::ptr_eq(&providers.of(&'b'), &shared));
    assert!(providers.of(&'a').quantile(0.95).get().is_none());
}

/// Creates a latency with the durations of completed and of dropped attempts, in milliseconds.
fn known(
    finished: impl IntoIterator<Item = u64>,
    dropped: impl IntoIterator<Item = u64>,
) -> Latency {
    let latency = Latency::new();
    for took in finished {
        latency.record(millis(took));
    }
    for after in dropped {
        latency.record_dropped(millis(after));
    }
    latency
}

#[tokio::test(start_paused = true)]
async fn responses_and_dropped_attempts_are_recorded() {
    asks!(fn call(latency: &Latency), hedge = latency.quantile(0.5), max = 1, timeout = "500ms", on = |_| false);

    // One more that took a second shows what became of those before.
    const LONG: u64 = 1_000;
    for (what, script, limit, within) in rows! {
        "a quick answer", vec![answer(5)], 400, 10;
        "a failure says nothing", vec![fails(5, TRANSIENT)], 400, 10;
        "an answer that another did not beat", vec![answer(80), answer(900)], 400, 80;
        "one that another beat", vec![answer(900), answer(70)], 400, LONG;
        "a timeout", vec![answer(900), answer(900)], 600, LONG;
        "a call that is dropped", vec![answer(900); 2], 30, LONG;
    } {
        let latency = known([10; 100], []);
        let server = Server::new(script);
        let _ = timeout(millis(limit), call(&server, &latency)).await;
        latency.record(millis(LONG));
        let quantile = latency.quantile(0.985).get();
        assert_eq!(quantile, Some(millis(within)), "{what}");
    }

    // The winner's duration is known; the other attempt was dropped 70 ms after the winner started.
    let latency = known([10; 100], []);
    let server = Server::new([answer(900), answer(70)]);
    assert_eq!(call(&server, &latency).await, Ok(2));
    assert_eq!(latency.quantile(0.985).get(), Some(millis(70)));
    assert_eq!(latency.quantile(1.0).get(), Some(millis(80)));
}

#[test]
fn a_dropped_attempt_would_have_taken_longer() {
    let (cut, half, even) = (
        known(1..=90, [200; 10]),
        known(1..=100, [50; 100]),
        known([50; 100], [50; 100]),
    );
    for (latency, quantile, took) in rows! {
        // 90 of 100 end within 90 ms, by any account.
        &cut, 0.9, 90;
        // Known to be more than 200 ms.
        &cut, 0.95, 200;
        // Dropped in the middle: of the 50 left, half end within the next 25 ms. 50 of 200 ended; of the 50 that are
        // left when the others were dropped, each is worth three.
        &half, 0.25, 50;
        &half, 0.625, 75;
        // Among equal durations, completed attempts come first.
        &even, 0.5, 50;
    } {
        assert_eq!(
            latency.quantile(quantile).get(),
            Some(millis(took)),
            "{quantile}"
        );
    }
}

#[test]
fn a_quantile_is_at_most_64_late() {
    let latency = known([10; 1024], []);
    let median = latency.quantile(0.5);
    assert_eq!(median.get(), Some(millis(10)));
    let mut late = 0;
    for _ in 0..1024 {
        latency.record(millis(20));
        late += 1;
        if median.get() == Some(millis(20)) {
            break;
        }
    }
    assert!((512..=512 + 64).contains(&late), "{late}");
}

#[test]
fn any_number_is_a_quantile() {
    let latency = known(1..=200, []);
    for (quantile, millis_) in [(-1.0, 1), (0.0, 1), (1.0, 200), (7.0, 200), (f64::NAN, 200)] {
        let found = latency.quantile(quantile).get();
        assert_eq!(found, Some(millis(millis_)), "{quantile}");
    }
    latency.record(Duration::MAX);
    latency.record_dropped(Duration::MAX);
    assert!(latency.quantile(1.0).get() > Some(Duration::from_secs(u32::MAX.into())));
}

proptest! {
    /// Without dropped attempts it is the nearest rank.
    #[test]
    fn the_quantile_is_the_nearest_rank(
        mut took in prop::collection::vec(0..10_000_u64, 100..1024),
        quantile in 1..=1_000_usize,
    ) {
        let latency = known(took.iter().copied(), []);
        took.sort_unstable();
        // In thousandths, because the nearest rank is defined with whole numbers.
        let rank = (took.len() * quantile).div_ceil(1_000);
        let quantile = f64::from(u16::try_from(quantile)?) / 1e3;
        prop_assert_eq!(latency.quantile(quantile).get(), Some(millis(took[rank - 1])));
    }

    /// A larger quantile is never shorter, and a dropped attempt never makes it shorter.
    #[test]
    fn the_quantile_is_monotone(
        took in prop::collection::vec(0..10_000_u64, 100..600),
        dropped in prop::collection::vec(0..10_000_u64, 0..400),
        (low, high) in (0.001..1.0, 0.001..1.0),
    ) {
        let (low, high) = if low < high { (low, high) } else { (high, low) };
        let (all, finished) = (known(took.clone(), dropped), known(took, []));
        prop_assert!(all.quantile(low).get() <= all.quantile(high).get());
        prop_assert!(finished.quantile(low).get() <= all.quantile(low).get());
    }
}

/// Only a `Quantile` takes a share.
#[tokio::test(start_paused = true)]
async fn a_method_of_ones_own_may_take_per_cent() {
    struct Stats;

    impl Stats {
        #[expect(clippy::unused_self, reason = "it stands for what it measured")]
        fn quantile(&self, per_cent: f64) -> Option<Duration> {
            (per_cent > 90.0).then_some(millis(100))
        }
    }

    asks!(fn call(stats: &Stats), hedge = stats.quantile(95.0), max = 1);

    let server = Server::new([answer(900), answer(10)]);
    assert_eq!(call(&server, &Stats).await, Ok(2));
    assert_eq!(server.seen(), seen(&[0, 100], 1, 110));
}

/// A request that takes 50 to 150 ms, in one of twenty cases a second longer.
async fn ask(requests: &Cell<u64>) -> Result<(), Failure> {
    let number = requests.replace(requests.get() + 1);
    let is_slow = random(2 * number).is_multiple_of(20);
    let took = 50 + random(2 * number + 1) % 100;
    sleep(millis(if is_slow { 1_000 + took } else { took })).await;
    Ok(())
}

/// `SplitMix64` by Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014).
fn random(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The 99th percentile in milliseconds, and the requests that a thousand calls make.
async fn tail(call: impl AsyncFn(&Cell<u64>) -> Result<(), Failure>) -> (u64, u64) {
    let (requests, mut took) = (Cell::new(0), Vec::new());
    for _ in 0..2_000 {
        let origin = Instant::now();
        assert_eq!(call(&requests).await, Ok(()));
        took.push(since(origin));
    }
    took.sort_unstable();
    (took[1_980], requests.get() / 2)
}

#[tokio::test(start_paused = true)]
async fn a_few_more_requests_cut_off_the_tail() {
    scripted! {
        #[retry(hedge = "150ms", max = 1)]
        async fn hedged(requests: &Cell<u64>) = ask(requests).await;
        #[retry(hedge = latency.quantile(0.9), max = 1)]
        async fn measured(requests: &Cell<u64>, latency: &Latency) = ask(requests).await;
    }

    let (p99, requests) = tail(ask).await;
    assert!(p99 > 1_080 && requests == 1_000, "{p99} {requests}");
    let (p99, requests) = tail(hedged).await;
    assert!(p99 < 300 && requests < 1_060, "{p99} {requests}");
    let latency = Latency::new();
    let (p99, requests) = tail(async |requests| measured(requests, &latency).await).await;
    assert!(p99 < 300 && requests < 1_120, "{p99} {requests}");
}
