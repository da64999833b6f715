use retry_runtime::retry;

fn is_ready(value: &u32) -> bool {
    *value > 3
}

#[retry(until = is_ready, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
