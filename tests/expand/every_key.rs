//! Every key that can be combined with the others.

#[retry(
    max = limits.turns,
    backoff = "exp",
    base = "250ms",
    factor = 1.5,
    cap = 10s,
    jitter = 0.2,
    on = ModelError::is_retryable,
    until = |answer| answer.is_complete(),
    hint = "honor",
    max_hint = "2m",
    timeout = "60s",
    deadline = limits.time,
    total_timeout = "3m",
    total_delay = "1m",
    enabled = limits.retries_on,
    idempotent = false,
    throttled(max = 10, base = "5s"),
    attempt = attempt,
    before_pause = async |error, next| countdown(error, next.pause()).await,
    before_retry = async |error, _next| refresh(error).await,
    fallback = async |gave_up| other_model(gave_up).await,
    repeats = 3,
    observe = |event| log.push(event.to_string()),
    name = "model.complete",
    timer = SmolTimer,
    crate = crate::reexports::retry_runtime
)]
async fn complete(prompt: String, limits: Limits, log: &mut Vec<String>) -> Result<Answer, ModelError> {
    ask(&prompt, attempt.number()).await
}
