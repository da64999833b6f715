use retry_runtime::retry;

struct Client;

#[retry(on = |_: &String| true)]
impl Client {
    #[cfg_attr(not(any()), retry(max = 3, on = |_: &String| true))]
    fn complete(&self) -> Result<String, String> {
        Ok(String::new())
    }
}

fn main() {
    let _ = Client.complete();
}
