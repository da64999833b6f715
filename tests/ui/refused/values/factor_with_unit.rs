use retry_runtime::retry;

#[retry(factor = 3s, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(factor = 1.5h, on = |_| true)]
async fn ask() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
