//! While a body is typed, its mistake is told of where it is, and nothing else.

use retry_runtime::retry;

struct Client;

impl Client {
    fn get(&self) -> Result<u32, String> {
        Ok(1)
    }
}

#[retry(on = |_| true)]
async fn fetch(client: &Client) -> Result<u32, String> {
    let _answer = client.;
    Ok(1)
}

fn main() {
    drop(fetch(&Client));
    let _ = Client.get();
}
