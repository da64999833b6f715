use retry_runtime::retry;

#[retry(hedge = "4s", timeout = "3s", deadline = "2s")]
async fn read() -> std::io::Result<()> {
    Ok(())
}
