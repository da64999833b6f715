//! Shared protections, a deadline and an observer.

#[retry(
    breaker = &BREAKER,
    limiter = &LIMITER,
    budget = &BUDGET,
    deadline = "1m",
    observe = |event| seen(event)
)]
async fn ask(prompt: u64) -> Result<u64, Busy> {
    send(prompt).await
}
