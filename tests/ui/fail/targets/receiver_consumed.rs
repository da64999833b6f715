use retry_runtime::retry;

struct Request(String);

impl Request {
    fn into_body(self) -> String {
        self.0
    }

    #[retry(on = |_| true)]
    async fn send(self) -> Result<String, String> {
        Ok(self.into_body())
    }
}

fn main() {}
