//! Metrics of calls in the Prometheus format: `cargo run --manifest-path tests/adapters/Cargo.toml --features metrics
//! --example prometheus`.
//!
//! A service would serve the text at `/metrics`; `examples/grafana.json` is a dashboard for it.

use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use retry_observers::Metrics;
use retry_protections::{Breaker, ConcurrencyLimiter, Quota, RateLimiter};
use retry_runtime::testing::{Script, sequence};
use retry_runtime::{Budget, Rejected, Verdict, retry};

static BUDGET: Budget = Budget::standard();
static BREAKER: Breaker = Breaker::new().consecutive_failures(4);
static LIMITER: ConcurrencyLimiter = ConcurrencyLimiter::fixed(1);
static RATE: RateLimiter<Quota> = RateLimiter::fixed(10, Duration::from_secs(1));
static METRICS: Metrics<'_> = Metrics::new()
    .budget("model", &BUDGET)
    .breaker("model", &BREAKER)
    .limiter("completions", &RATE)
    .limiter("embeddings", &LIMITER);

struct Client {
    server: Script<&'static str, Failure>,
}

#[derive(Clone, Debug)]
enum Failure {
    Overloaded,
    SlowDown,
    Unauthorized,
    BreakerOpen,
}

impl From<Rejected> for Failure {
    fn from(_: Rejected) -> Self {
        Self::BreakerOpen
    }
}

fn verdict(failure: &Failure) -> Verdict {
    match failure {
        Failure::Overloaded => Verdict::TRANSIENT,
        Failure::SlowDown => Verdict::THROTTLED.after(Duration::from_secs(2)),
        Failure::Unauthorized | Failure::BreakerOpen => Verdict::STOP,
    }
}

#[retry(
    max = 3,
    on = verdict,
    budget = &BUDGET,
    breaker = &BREAKER,
    observe = &METRICS
)]
impl Client {
    #[retry(name = "model.complete", limiter = &RATE)]
    async fn complete(&self) -> Result<&'static str, Failure> {
        self.server.next()
    }

    #[retry(name = "model.embed", limiter = &LIMITER)]
    async fn embed(&self) -> Result<&'static str, Failure> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.server.next()
    }
}

/// Creates a recorder whose histograms have fixed buckets, so that a dashboard can add up the data of several machines.
fn recorder() -> Result<PrometheusHandle, BuildError> {
    const SECONDS: [f64; 10] = [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0];
    const ATTEMPTS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 11.0];
    let metric = |name| Matcher::Full(String::from(name));
    PrometheusBuilder::new()
        .set_buckets_for_metric(metric("retry_delay_seconds"), &SECONDS)?
        .set_buckets_for_metric(metric("retry_wait_seconds"), &SECONDS)?
        .set_buckets_for_metric(metric("retry_attempt_duration_seconds"), &SECONDS)?
        .set_buckets_for_metric(metric("retry_call_duration_seconds"), &SECONDS)?
        .set_buckets_for_metric(metric("retry_attempts_per_call"), &ATTEMPTS)?
        .install_recorder()
}

/// Makes some calls, and returns all metrics.
pub(crate) async fn text() -> Result<String, BuildError> {
    let recorder = recorder()?;
    Metrics::describe();
    let ok = Ok("hello");
    let client = Client {
        server: sequence(
            [
                ok.clone(),
                Err(Failure::Overloaded),
                ok.clone(),
                Err(Failure::SlowDown),
                Err(Failure::Overloaded),
                ok.clone(),
                Err(Failure::Unauthorized),
            ]
            .into_iter()
            .chain([const { Err(Failure::Overloaded) }; 4])
            .chain([ok.clone(), ok.clone(), ok]),
        ),
    };
    for _ in 0..6 {
        let _ = client.complete().await;
    }
    // Wait until the breaker is half-open.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let _ = client.embed().await;
    // The second call waits for the first.
    let _ = tokio::join!(client.embed(), client.embed());
    Ok(recorder.render())
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), BuildError> {
    print!("{}", text().await?);
    Ok(())
}
