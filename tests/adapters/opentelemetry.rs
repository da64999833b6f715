//! The observer `OpenTelemetry`, by what the in-memory exporter of its SDK gets.

use std::collections::BTreeMap;

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Metric, MetricData, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use retry_runtime::observers::OpenTelemetry;
use retry_runtime::testing::{Script, sequence};
use retry_runtime::{Breaker, Budget, Rejected, retry};

static BUDGET: Budget = Budget::standard();

#[derive(Clone, Debug)]
struct Busy;

impl From<Rejected> for Busy {
    fn from(_: Rejected) -> Self {
        Self
    }
}

#[retry(max = 2, jitter = "none", name = "fetch", budget = &BUDGET, breaker = breaker, observe = observer, on = |_| true)]
async fn fetch(
    server: &Script<(), Busy>,
    breaker: &Breaker,
    observer: &OpenTelemetry<'_>,
) -> Result<(), Busy> {
    server.next()
}

/// Attributes without the call's name, and a number: of a histogram its sum.
type Points = BTreeMap<String, f64>;

fn attributes<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> String {
    let (names, others): (Vec<_>, Vec<_>) =
        attributes.partition(|attribute| attribute.key.as_str() == "retry.name");
    assert_eq!(names, [&KeyValue::new("retry.name", "fetch")]);
    let others = others.iter();
    let others = others.map(|attribute| format!("{}={}", attribute.key, attribute.value));
    others.collect::<Vec<_>>().join(",")
}

/// The points of a metric, of whatever sort it is.
fn points(metric: &Metric) -> Points {
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| (attributes(point.attributes()), number(point.value())))
            .collect(),
        AggregatedMetrics::U64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| (attributes(point.attributes()), number(point.value())))
            .collect(),
        AggregatedMetrics::F64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| (attributes(point.attributes()), point.value()))
            .collect(),
        AggregatedMetrics::U64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| (attributes(point.attributes()), number(point.sum())))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| (attributes(point.attributes()), point.sum()))
            .collect(),
        _ => panic!("an instrument of another sort: {}", metric.name()),
    }
}

fn number(value: u64) -> f64 {
    f64::from(u32::try_from(value).expect("a small number"))
}

#[tokio::test(start_paused = true)]
async fn every_instrument_gets_its_numbers() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(exporter.clone())
        .build();
    let observer = OpenTelemetry::new(&provider.meter("test")).budget(&BUDGET);
    let breaker = Breaker::new().consecutive_failures(4);
    let server = sequence(
        [Ok(()), Err(Busy), Ok(())]
            .into_iter()
            .chain([const { Err(Busy) }; 4]),
    );
    for _ in 0..5 {
        let _ = fetch(&server, &breaker, &observer).await;
    }
    provider.force_flush().expect("an exporter in memory");

    let exported = exporter.get_finished_metrics().expect("metrics");
    let scopes = exported.iter().flat_map(ResourceMetrics::scope_metrics);
    let metrics = scopes.flat_map(ScopeMetrics::metrics);
    let found: BTreeMap<_, _> = metrics
        .map(|metric| ((metric.name(), metric.unit()), points(metric)))
        .collect();
    let expected = |points: &[(&str, f64)]| -> Points {
        let points = points.iter();
        points
            .map(|(at, value)| ((*at).to_owned(), *value))
            .collect()
    };
    assert_eq!(
        found[&("retry.calls", "{call}")],
        expected(&[
            ("retry.outcome=exhausted", 1.0),
            ("retry.outcome=rejected", 2.0),
            ("retry.outcome=succeeded", 2.0),
        ])
    );
    assert_eq!(
        found[&("retry.attempts", "{attempt}")],
        expected(&[("retry.kind=succeeded", 2.0), ("retry.kind=transient", 5.0),])
    );
    // 1 s; 1 s and 2 s; 1 s, after which the breaker is open.
    assert_eq!(found[&("retry.delay", "s")], expected(&[("", 5.0)]));
    assert_eq!(
        found[&("retry.attempts_per_call", "{attempt}")],
        expected(&[("", 7.0)])
    );
    assert_eq!(found[&("retry.breaker.state", "1")], expected(&[("", 2.0)]));
    let available = found[&("retry.budget.available", "{token}")][""];
    assert!((400.0..500.0).contains(&available), "{available}");
    assert_eq!(found.len(), 6, "{found:?}");
}
