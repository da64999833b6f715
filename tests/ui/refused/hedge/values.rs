use retry_runtime::{Latency, retry};

static LATENCY: Latency = Latency::new();

#[retry(hedge = "0s")]
async fn zero() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = 200)]
async fn unit() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge)]
async fn no_value() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedging_delay = "200ms")]
async fn by_another_name() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = LATENCY.quantile(95))]
async fn per_cent() -> std::io::Result<()> {
    Ok(())
}

#[retry(hedge = LATENCY.quantile(99.9))]
async fn per_cent_as_suggested() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
