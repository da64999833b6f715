use retry_runtime::retry;

struct Client;

#[retry(backoff = ["1s", "5s"], throttled(backoff = "exp", cap = "1s"), hint = "ignore", on = |_: &String| true)]
impl Client {
    #[retry(base = "2s")]
    fn base(&self) -> Result<(), String> {
        Ok(())
    }

    #[retry(max_hint = "2s")]
    fn max_hint(&self) -> Result<(), String> {
        Ok(())
    }

    #[retry(throttled(base = "2s"))]
    fn section(&self) -> Result<(), String> {
        Ok(())
    }

    #[retry(backoff = "exp", base = "2s", hint = "honor", max_hint = "2s", throttled(base = "1s"))]
    fn both(&self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
