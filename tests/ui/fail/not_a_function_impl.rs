use retry_runtime::retry;

struct Client;

#[retry(on = |_| true)]
impl Client {
    fn complete(&self) -> Result<String, String> {
        Ok(String::from("hello"))
    }
}

fn main() {}
