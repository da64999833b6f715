//! Closed breakers.

use failsafe::CircuitBreaker as _;
use recloser::Recloser;
use retry_protections::Breaker;
use retry_runtime::retry;
use tower::service_fn;
use tower_resilience::circuitbreaker::CircuitBreakerLayer;

use crate::{Calls, blocking, body, service, waiting};

static BREAKER: Breaker = Breaker::new();

#[retry(breaker = &BREAKER)]
fn with(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

#[retry(breaker = &BREAKER)]
async fn waits_with(value: u64) -> Result<u64, std::io::Error> {
    body(value)
}

pub(crate) fn ways() -> Vec<(&'static str, Calls)> {
    let failsafe = failsafe::Config::new().build();
    let recloser = Recloser::default();
    let layer = CircuitBreakerLayer::builder().build().unwrap();
    let layered = layer.layer_fn(service_fn(async |value: u64| body(value)));
    vec![
        ("`#[retry(breaker)]`", blocking(with)),
        (
            "recloser 1.4",
            blocking(move |value| recloser.call(|| body(value))),
        ),
        (
            "failsafe 1.3",
            blocking(move |value| failsafe.call(|| body(value))),
        ),
        ("async, `#[retry(breaker)]`", waiting(waits_with)),
        ("async, tower-resilience 0.13", service(layered)),
    ]
}
