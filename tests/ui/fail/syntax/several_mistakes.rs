use retry_runtime::retry;

#[retry(maxx = 5, base = "1m", cap = "10s", backoff = "expo", jitter = 20, timeout = "10s", on = |_| true)]
fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
