use retry_runtime::retry;

#[retry(maxx = 5)]
async fn complete(prompt: &str) -> Result<String, String> {
    Ok(prompt.to_owned())
}

async fn greet() -> Result<usize, String> {
    let answer = complete("hello").await?;
    Ok(answer.len())
}

fn main() {
    drop(greet());
}
