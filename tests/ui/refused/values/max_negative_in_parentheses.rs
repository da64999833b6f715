use retry_runtime::retry;

#[retry(max = -(1), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
