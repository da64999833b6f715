use retry_runtime::retry;

#[retry(max: 5, attempts: 3, on = |_| true, transient(base: "1s", cap = 5))]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(attempts: 3, max: 5)]
async fn embed() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
