use retry_runtime::retry;

#[retry(attempts = 3, on = |_| true)]
async fn call0() -> Result<(), String> {
    Ok(())
}

#[retry(attempts = limit, throttled(tries(4)), on = |_| true)]
async fn call1() -> Result<(), String> {
    Ok(())
}

#[retry(max_attempts = 3, on = |_| true)]
async fn call2() -> Result<(), String> {
    Ok(())
}

#[retry(retries = 3, on = |_| true)]
async fn call3() -> Result<(), String> {
    Ok(())
}

#[retry(times = 3, on = |_| true)]
async fn call4() -> Result<(), String> {
    Ok(())
}

#[retry(backoff_factor = 2.0, on = |_| true)]
async fn call5() -> Result<(), String> {
    Ok(())
}

#[retry(delay = "1s", on = |_| true)]
async fn call6() -> Result<(), String> {
    Ok(())
}

#[retry(per_attempt_timeout = "1s", on = |_| true)]
async fn call7() -> Result<(), String> {
    Ok(())
}

#[retry(retry_if = is_busy, on = |_| true)]
async fn call8() -> Result<(), String> {
    Ok(())
}

#[retry(when = is_busy, on = |_| true)]
async fn call9() -> Result<(), String> {
    Ok(())
}

#[retry(stop = 3, on = |_| true)]
async fn call10() -> Result<(), String> {
    Ok(())
}

#[retry(max_time = "1m", on = |_| true)]
async fn call11() -> Result<(), String> {
    Ok(())
}

#[retry(unlimited = true, on = |_| true)]
async fn call12() -> Result<(), String> {
    Ok(())
}

#[retry(value = is_busy, on = |_| true)]
async fn call13() -> Result<(), String> {
    Ok(())
}

#[retry(rate = 5, on = |_| true)]
async fn call14() -> Result<(), String> {
    Ok(())
}

#[retry(concurrency = 5, on = |_| true)]
async fn call15() -> Result<(), String> {
    Ok(())
}

#[retry(before_sleep = log, on = |_| true)]
async fn call16() -> Result<(), String> {
    Ok(())
}

#[retry(max_backoff_ms = 500, on = |_| true)]
async fn call17() -> Result<(), String> {
    Ok(())
}

#[retry(initial_interval_sec = 0.5, on = |_| true)]
async fn call18() -> Result<(), String> {
    Ok(())
}

#[retry(base_ms = delay, on = |_| true)]
async fn call19() -> Result<(), String> {
    Ok(())
}

#[retry(retry_for = Busy, on = |_| true)]
async fn call20() -> Result<(), String> {
    Ok(())
}

#[retry(recover = other, on = |_| true)]
async fn call21() -> Result<(), String> {
    Ok(())
}

#[retry(exp_base = 2, on = |_| true)]
async fn call22() -> Result<(), String> {
    Ok(())
}

#[retry(respect_retry_after = true, on = |_| true)]
async fn call23() -> Result<(), String> {
    Ok(())
}

#[retry(rate_limited(max = 5), on = |_| true)]
async fn call24() -> Result<(), String> {
    Ok(())
}

#[retry(server_error(max = 5), on = |_| true)]
async fn call25() -> Result<(), String> {
    Ok(())
}

fn main() {}
