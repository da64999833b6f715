use retry_runtime::retry;

#[retry(idempotent = false, timeout = "3s", timed_out(max = 1))]
async fn charge() -> std::io::Result<()> {
    Ok(())
}

struct Client;

#[retry(idempotent = false)]
impl Client {
    #[retry(timed_out(max = 1))]
    fn charge(&self) -> std::io::Result<()> {
        Ok(())
    }
}
