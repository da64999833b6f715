use retry_runtime::retry;

struct Semaphore;

#[retry(limiter = &semaphore)]
async fn complete(semaphore: Semaphore) -> std::io::Result<String> {
    Ok(String::from("hello"))
}

fn main() {}
