use retry_runtime::retry;

#[retry(skip)]
async fn fetch() -> std::io::Result<()> {
    Ok(())
}

fn main() {}
