use async_trait::async_trait;
use retry_runtime::retry;

pub struct Prompt(String);

#[retry(wrapper = Retrying, on = |_: &String| true)]
#[async_trait]
pub trait Model {
    async fn complete(&self, prompt: Prompt) -> Result<String, String>;
}

fn main() {
    let _ = Prompt(String::new()).0;
}
