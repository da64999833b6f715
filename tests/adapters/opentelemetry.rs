//! The observer `OpenTelemetry`, tested with its SDK's in-memory exporter.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Metric, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use retry_observers::OpenTelemetry;
use retry_protections::{Breaker, ConcurrencyLimiter, RateLimiter};
use retry_runtime::seam::{Admission, AdmissionControl, Permit, WithCost};
use retry_runtime::testing::{Script, sequence};
use retry_runtime::{Budget, Event, EventData, GaveUp, Observer, Policy, Rejected, Verdict, retry};
use retry_work::plan::Validity;
use retry_work::{Plan, retry_each};

static BUDGET: Budget = Budget::standard();

#[derive(Clone, Debug)]
struct Busy;

impl From<Rejected> for Busy {
    fn from(_: Rejected) -> Self {
        Self
    }
}

#[retry(max = 2, jitter = "none", name = "fetch", budget = &BUDGET, breaker = breaker, limiter = limiter,
    observe = observer, on = |_| true)]
async fn fetch(
    server: &Script<(), Busy>,
    breaker: &Breaker,
    limiter: &ConcurrencyLimiter,
    observer: &OpenTelemetry<'_>,
) -> Result<(), Busy> {
    server.next()
}

/// Attributes, and a number: of a histogram its sum, and how many of its buckets hold any.
type Points = BTreeMap<String, (f64, usize)>;

/// Without the names, which are always the same.
fn attributes<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    const NAMES: [(&str, &str); 5] = [
        ("retry.name", "fetch"),
        ("retry.name", "fetch.page"),
        ("retry.budget", "server"),
        ("retry.breaker", "server"),
        ("retry.limiter", "server"),
    ];
    let names = NAMES.map(|(key, name)| KeyValue::new(key, name));
    let (names, others): (Vec<_>, Vec<_>) =
        attributes.partition(|attribute| names.contains(attribute));
    assert_eq!(names.len(), 1);
    let others = others.iter();
    let others = others.map(|attribute| format!("{}={}", attribute.key, attribute.value));
    others.collect::<Vec<_>>().join(",")
}

/// Returns the points of a counter, a gauge or a histogram.
fn points(metric: &Metric) -> Points {
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| {
                let count = u32::try_from(point.value()).expect("a small number");
                (attributes(point.attributes()), (f64::from(count), 0))
            })
            .collect(),
        AggregatedMetrics::F64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| (attributes(point.attributes()), (point.value(), 0)))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| {
                let filled = point.bucket_counts().filter(|count| *count > 0).count();
                (attributes(point.attributes()), (point.sum(), filled))
            })
            .collect(),
        _ => panic!("an instrument of another sort: {}", metric.name()),
    }
}

/// Expects points of a histogram with `filled` non-empty buckets.
fn filling(filled: usize, points: &[(&str, f64)]) -> Points {
    let points = points.iter();
    points
        .map(|(at, value)| ((*at).to_owned(), (*value, filled)))
        .collect()
}

fn expected(points: &[(&str, f64)]) -> Points {
    filling(0, points)
}

/// An exporter whose metrics can be read by name and unit.
struct Exported {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Exported {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder()
            .with_periodic_exporter(exporter.clone())
            .build();
        Self { provider, exporter }
    }

    fn observer(&self) -> OpenTelemetry<'static> {
        OpenTelemetry::new(&self.provider.meter("test"))
    }

    fn read(&self) -> BTreeMap<String, Points> {
        self.provider.force_flush().expect("an exporter in memory");
        let exported = self.exporter.get_finished_metrics().expect("metrics");
        let scopes = exported.iter().flat_map(ResourceMetrics::scope_metrics);
        let metrics = scopes.flat_map(ScopeMetrics::metrics);
        metrics
            .map(|metric| {
                (
                    format!("{} {}", metric.name(), metric.unit()),
                    points(metric),
                )
            })
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn every_instrument_gets_its_numbers() {
    let exported = Exported::new();
    let observer = exported.observer();
    let breaker = Breaker::new().consecutive_failures(4);
    let limiter = ConcurrencyLimiter::fixed(3);
    let observer = observer
        .budget("server", &BUDGET)
        .breaker("server", &breaker)
        .limiter("server", &limiter);
    let (begin, end) = ([Ok(()), Err(Busy), Ok(())], [const { Err(Busy) }; 4]);
    let server = sequence(begin.into_iter().chain(end));
    for _ in 0..5 {
        let _ = fetch(&server, &breaker, &limiter, &observer).await;
    }
    let found = exported.read();
    assert_eq!(
        found["retry.calls {call}"],
        expected(&[
            ("retry.outcome=exhausted,retry.retried=true", 1.0),
            ("retry.outcome=rejected,retry.retried=false", 2.0),
            ("retry.outcome=succeeded,retry.retried=false", 1.0),
            ("retry.outcome=succeeded,retry.retried=true", 1.0),
        ])
    );
    assert_eq!(
        found["retry.attempts {attempt}"],
        expected(&[("retry.kind=succeeded", 2.0), ("retry.kind=transient", 5.0),])
    );
    // 1 s; 1 s and 2 s; 1 s, after which the breaker is open.
    assert_eq!(found["retry.delay s"], filling(2, &[("", 5.0)]));
    // 1, 1, 2 and 3; the call that made none is left out.
    assert_eq!(
        found["retry.attempts_per_call {attempt}"],
        filling(3, &[("", 7.0)])
    );
    assert_eq!(found["retry.breaker.state 1"], expected(&[("", 2.0)]));
    let (available, _) = found["retry.budget.available {token}"][""];
    assert!((400.0..500.0).contains(&available), "{available}");
    assert_eq!(
        found["retry.breaker.openings {opening}"],
        expected(&[("", 1.0)])
    );
    for (gauge, attempts) in [("running", 0.0), ("waiting", 0.0), ("limit", 3.0)] {
        let name = format!("retry.limiter.{gauge} {{attempt}}");
        assert_eq!(found[&name], expected(&[("", attempts)]), "{gauge}");
    }
    // No call waited.
    assert_eq!(found.len(), 12, "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn corrections_hedges_and_fallbacks_are_counted() {
    #[retry(max = 3, name = "fetch", observe = observer, on = |_| true,
        validate = |value: &u32| if *value < 3 { Err(Busy) } else { Ok(()) },
        correct = async |value, _: &Busy| Ok(value + 1))]
    async fn corrected(observer: &OpenTelemetry<'_>) -> Result<u32, Busy> {
        Ok(1)
    }

    #[retry(max = 1, backoff = "none", name = "fetch", observe = observer, on = |_| true,
        fallback = |_: GaveUp<Busy>| async { Ok(0) })]
    async fn falls_back(observer: &OpenTelemetry<'_>) -> Result<u32, Busy> {
        Err(Busy)
    }

    #[retry(max = 1, hedge = "1s", idempotent = true, name = "fetch", observe = observer, on = |_| true)]
    async fn hedged(observer: &OpenTelemetry<'_>, attempts: &AtomicU32) -> Result<u32, Busy> {
        let first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
        tokio::time::sleep(Duration::from_secs(if first { 2 } else { 3 })).await;
        if first { Err(Busy) } else { Ok(1) }
    }

    let exported = Exported::new();
    let observer = &exported.observer();
    assert_eq!(corrected(observer).await.ok(), Some(3));
    assert_eq!(falls_back(observer).await.ok(), Some(0));
    assert_eq!(hedged(observer, &AtomicU32::new(0)).await.ok(), Some(1));
    let found = exported.read();
    assert_eq!(
        found["retry.calls {call}"],
        expected(&[
            ("retry.outcome=fell back,retry.retried=true", 1.0),
            ("retry.outcome=succeeded,retry.retried=false", 1.0),
            ("retry.outcome=succeeded,retry.retried=true", 1.0),
        ])
    );
    assert_eq!(
        found["retry.attempts {attempt}"],
        expected(&[
            ("retry.kind=invalid", 2.0),
            ("retry.kind=succeeded", 2.0),
            ("retry.kind=transient", 3.0),
        ])
    );
    assert_eq!(
        found["retry.attempts_per_call {attempt}"],
        filling(2, &[("", 5.0)])
    );
    // The sums, and how many buckets have some: two that took no time, and the one that was hedged.
    let of_attempts = &found["retry.attempt.duration s"];
    assert_eq!(of_attempts["retry.kind=transient"], (2.0, 2));
    let of_calls = &found["retry.call.duration s"];
    assert_eq!(of_calls["retry.outcome=succeeded"], (4.0, 2));
}

/// A protection without a half-open state, a limit or a queue.
struct Switch(bool);

impl AdmissionControl for Switch {
    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        if self.0 {
            Admission::Admitted
        } else {
            Admission::Rejected
        }
    }
    fn is_open(&self) -> bool {
        !self.0
    }
}

/// Returns what is exported after the start of a call, with the protection that `add` gives the observer.
fn started<'a>(
    add: impl FnOnce(OpenTelemetry<'static>) -> OpenTelemetry<'a>,
) -> BTreeMap<String, Points> {
    let exported = Exported::new();
    add(exported.observer()).observe(&Event::new("fetch", 1, EventData::Started));
    exported.read()
}

#[test]
fn a_protection_shows_only_its_known_state() {
    type Gauges<'a> = &'a [(&'a str, f64)];

    for (breaker, state) in [
        (Some(Switch(true)), 0.0),
        (Some(Switch(false)), 2.0),
        (None, 0.0),
    ] {
        let found = started(|observer| observer.breaker("server", &breaker));
        assert_eq!(found["retry.breaker.state 1"], expected(&[("", state)]));
    }
    let places = ConcurrencyLimiter::fixed(1);
    let _tickets = [places.enter(1), places.enter(1)];
    let rate = RateLimiter::fixed(10, Duration::from_secs(1));
    let limiters: [(&(dyn AdmissionControl + Sync), Gauges<'_>); 4] = [
        (
            &places,
            &[
                ("retry.limiter.limit {attempt}", 1.0),
                ("retry.limiter.running {attempt}", 1.0),
                ("retry.limiter.waiting {attempt}", 1.0),
            ],
        ),
        (
            &Some(Arc::new(WithCost::new(rate, 2))),
            &[
                ("retry.limiter.rate {cost}/s", 10.0),
                ("retry.limiter.waiting {attempt}", 0.0),
            ],
        ),
        (&None::<RateLimiter>, &[]),
        (&Switch(true), &[]),
    ];
    for (limiter, gauges) in limiters {
        let found = started(|observer| observer.limiter("server", limiter));
        let gauges = gauges.iter();
        let gauges = gauges.map(|(name, value)| ((*name).to_owned(), expected(&[("", *value)])));
        assert_eq!(found, gauges.collect());
    }
}

const OK: Result<(), &str> = Ok(());
const BUSY: Result<(), &str> = Err("busy");
const GONE: Result<(), &str> = Err("gone");

/// The points that one attempt adds to `retry.attempts`.
const SUCCEEDED: (&str, f64) = ("retry.kind=succeeded", 1.0);
const TRANSIENT: (&str, f64) = ("retry.kind=transient", 1.0);
const STOPPED: (&str, f64) = ("retry.kind=stop", 1.0);

fn verdict(error: &&str) -> Verdict {
    match *error {
        "busy" => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

/// Returns the outcomes of the attempts of all calls with this name in `run`.
async fn attempts_of(name: &str, run: impl AsyncFnOnce(&dyn Fn(&Event<'_>))) -> Points {
    let exported = Exported::new();
    let observer = exported.observer();
    let observe = |event: &Event<'_>| {
        if event.call == name {
            observer.observe(event);
        }
    };
    run(&observe).await;
    exported
        .read()
        .remove("retry.attempts {attempt}")
        .unwrap_or_default()
}

/// With any number of items given up, in any round.
#[tokio::test]
async fn a_batch_round_counts_once_by_its_outcome() {
    type Rounds<'a> = &'a [&'a [Result<(), &'a str>]];
    let cases: [(Rounds<'_>, &[_]); 6] = [
        (&[&[GONE, BUSY], &[OK]], &[SUCCEEDED, TRANSIENT]),
        (&[&[GONE, BUSY], &[GONE]], &[STOPPED, TRANSIENT]),
        (&[&[OK, BUSY], &[GONE]], &[STOPPED, TRANSIENT]),
        (&[&[OK, GONE]], &[STOPPED]),
        (&[&[BUSY; 2], &[OK, BUSY]], &[("retry.kind=transient", 2.0)]),
        // One result for two items.
        (&[&[OK]], &[STOPPED]),
    ];
    for (rounds, kinds) in cases {
        let found = attempts_of("fetch", async |observe| {
            let round = Cell::new(0);
            let policy = Policy::none().max(1).on(verdict).name("fetch");
            let call = policy.observe(|event| observe(event));
            let _ = retry_each(call, 0..2, async |_| {
                Ok(rounds[round.replace(round.get() + 1)].to_vec())
            })
            .await;
        });
        assert_eq!(found.await, expected(kinds), "{rounds:?}");
    }
}

#[tokio::test]
async fn a_plan_round_and_a_subtask_execution_count_once() {
    let cases: [(&[Result<(), &str>], &[_]); 4] = [
        (&[BUSY], &[TRANSIENT]),
        (&[GONE], &[STOPPED]),
        (&[BUSY, GONE], &[STOPPED, TRANSIENT]),
        (&[BUSY, OK], &[SUCCEEDED, TRANSIENT]),
    ];
    let names = ["fetch", "fetch.page"];
    for ((outcomes, kinds), name) in cases.iter().flat_map(|case| names.map(|name| (case, name))) {
        let found = attempts_of(name, async |observe| {
            let server = sequence(outcomes.iter().copied());
            let mut plan = Plan::<(), &str>::new();
            plan.add("page", [], async |[]| server.next());
            let max = u32::try_from(outcomes.len() - 1).expect("a few");
            let policy = Policy::none().max(max).on(verdict).name("fetch");
            let call = policy.observe(|event| observe(event));
            let end = plan.run_until(call, async |results| match results.output("page") {
                Some(()) => Validity::Valid,
                None => Validity::Invalid(String::from("no page")),
            });
            assert!(end.await.is_ok());
        });
        assert_eq!(found.await, expected(kinds), "{name}: {outcomes:?}");
    }
}
