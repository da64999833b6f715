use std::sync::Arc;

use retry_runtime::retry;

#[retry(wrapper = Retrying, max = "three", on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;

    async fn count(&self) -> u32;

    fn share(self: Arc<Self>) -> u32;

    fn close(self) -> Result<(), String>;

    #[retry(base = 5)]
    fn embed(&self, text: &str) -> Result<u32, String>;
}

struct Client;

impl Model for Client {
    async fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }

    async fn count(&self) -> u32 {
        3
    }

    fn share(self: Arc<Self>) -> u32 {
        3
    }

    fn close(self) -> Result<(), String> {
        Ok(())
    }

    fn embed(&self, _: &str) -> Result<u32, String> {
        Ok(3)
    }
}

fn main() {
    // Nothing is said of these: the trait is still there.
    let _ = Client.complete("hello");
    let _ = Client.embed("hello");
    let _ = Client.close();
}
