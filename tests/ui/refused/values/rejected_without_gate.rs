use retry_runtime::retry;

#[retry(max = 5, rejected(max = 20))]
async fn fetch() -> std::io::Result<u32> {
    Ok(42)
}

fn main() {}
