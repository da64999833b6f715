use retry_runtime::retry;

#[retry(budget = self::BUDGET, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
