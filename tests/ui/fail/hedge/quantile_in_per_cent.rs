use std::sync::LazyLock;

use retry_protections::{Keyed, Latency, Quantile};
use retry_runtime::retry;

static LATENCY: Latency = Latency::new();
static LATENCIES: LazyLock<Keyed<String, Latency>> =
    LazyLock::new(|| Keyed::new(100, Latency::new));

#[retry(hedge = LATENCY.quantile(95))]
async fn whole() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = LATENCY.quantile(95.0))]
async fn as_suggested() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = (LATENCY.quantile(99.9)))]
async fn in_parentheses() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = Quantile::new(LATENCIES.of(host), 95.0))]
async fn of_a_host(host: &str) -> std::io::Result<()> {
    Ok(())
}

fn main() {}
