use retry_runtime::retry;

#[retry(max = 5)]
async fn complete<E: std::error::Error>(_error: &E) -> Result<String, E> {
    Ok(String::from("hello"))
}

fn main() {}
