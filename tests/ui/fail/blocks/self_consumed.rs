use retry_runtime::retry;

struct Client(String);

#[retry(on = |_: &String| true)]
impl Client {
    fn close(self) -> Result<String, String> {
        Ok(self.0)
    }
}

fn main() {}
