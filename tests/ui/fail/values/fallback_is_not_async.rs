use retry_runtime::retry;

#[retry(fallback = |gave_up| Err(gave_up.into_error()), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
