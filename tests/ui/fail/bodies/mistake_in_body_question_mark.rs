use retry_runtime::retry;

#[derive(Debug)]
struct ModelError;

fn send() -> Result<u32, std::fmt::Error> {
    Ok(5)
}

#[retry(on = |_| true)]
async fn complete() -> Result<u32, ModelError> {
    let answer = send()?;
    Ok(answer)
}

fn main() {}
