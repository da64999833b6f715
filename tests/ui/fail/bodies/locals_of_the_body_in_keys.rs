use retry_runtime::retry;

#[retry(on = |_| answer.is_empty())]
async fn complete() -> Result<String, String> {
    let answer = String::from("hello");
    Ok(answer)
}

fn main() {}
