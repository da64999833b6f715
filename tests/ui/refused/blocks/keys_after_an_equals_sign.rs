use retry_runtime::retry;

struct Client;

#[retry(max = 3, on = |_| true)]
impl Client {
    #[retry = "max = 0"]
    fn keys(&self) -> Result<u32, String> {
        Ok(3)
    }

    #[retry = skip]
    fn skipped(&self) -> Result<u32, String> {
        Ok(3)
    }
}

fn main() {}
