use retry_runtime::retry;

#[retry(floor = "2s", throttled(cap = "1s"), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
