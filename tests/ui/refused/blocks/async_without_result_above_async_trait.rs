use async_trait::async_trait;
use retry_runtime::retry;

#[async_trait]
trait Model {
    async fn count(&self) -> u32;
}

struct Client;

#[retry(max = 3, on = |_: &String| true)]
#[async_trait]
impl Model for Client {
    async fn count(&self) -> u32 {
        3
    }
}

fn main() {
    let _ = Client.count();
}
