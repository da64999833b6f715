use retry_runtime::retry;

struct Client;

#[retry(wrapper = Retrying, on = |_: &String| true)]
impl Client {
    fn complete(&self) -> Result<String, String> {
        Ok(String::new())
    }
}

fn main() {
    let _ = Client.complete();
}
