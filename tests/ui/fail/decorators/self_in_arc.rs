use std::sync::Arc;

use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn complete(self: Arc<Self>, prompt: &str) -> Result<String, String>;
}

struct Client;

impl Model for Client {
    async fn complete(self: Arc<Self>, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }
}

fn main() {
    let _ = Arc::new(Client).complete("hello");
}
