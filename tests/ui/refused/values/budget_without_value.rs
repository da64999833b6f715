use retry_runtime::retry;

#[retry(budget(), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(budget = 10, on = |_| true)]
async fn number() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
