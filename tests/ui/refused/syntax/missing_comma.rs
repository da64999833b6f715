use retry_runtime::retry;

#[retry(max = 5 base = "1s", on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(max = 5, on = |error attempt, number: u32| true)]
async fn embed() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
