use retry_runtime::retry;

#[retry(base = "1s", jitter = 0.2, deadline = "500ms", on = |_| true)]
async fn by_ratio() -> Result<(), String> {
    Ok(())
}

#[retry(jitter = "equal", deadline = "499ms", on = |_| true)]
async fn by_half() -> Result<(), String> {
    Ok(())
}

#[retry(backoff = ["10s", "1s"], cap = "4s", jitter = 0.5, deadline = "1s", on = |_| true)]
async fn of_a_list() -> Result<(), String> {
    Ok(())
}

// Some retry can begin in time.
#[retry(base = "1s", jitter = 0.2, deadline = "800ms", on = |_| true)]
async fn just_in_time() -> Result<(), String> {
    Ok(())
}

#[retry(base = "1s", deadline = "1ms", on = |_| true)]
async fn with_full_jitter() -> Result<(), String> {
    Ok(())
}

#[retry(base = "1s", jitter = ratio, deadline = "1ms", on = |_| true)]
async fn by_an_expression(ratio: f64) -> Result<(), String> {
    Ok(())
}

fn main() {}
