use retry_runtime::retry;

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    let answer: u32 = "hello";
    Ok(answer.to_string())
}

fn main() {}
