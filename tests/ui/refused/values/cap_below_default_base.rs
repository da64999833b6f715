use retry_runtime::retry;

#[retry(cap = "100ms", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
