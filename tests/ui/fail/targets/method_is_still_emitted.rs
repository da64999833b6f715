use retry_runtime::retry;

struct Client;

impl Client {
    #[retry(maxx = 5)]
    fn complete(&self) -> Result<String, String> {
        Ok(String::from("hello"))
    }
}

fn main() {
    drop(Client.complete());
}
