use retry_runtime::retry;

#[retry(max = 5, on = |_| true, max = 6)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
