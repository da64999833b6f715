use retry_runtime::retry;

#[retry(until = |value| value.len(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
