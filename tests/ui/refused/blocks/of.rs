use retry_runtime::retry;

struct Client;

#[retry(on = |_: &String| true)]
impl Client {
    #[retry(of = other::Client)]
    fn complete(&self) -> Result<String, String> {
        Ok(String::new())
    }
}

fn main() {
    let _ = Client.complete();
}
