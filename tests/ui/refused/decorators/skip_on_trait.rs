use retry_runtime::retry;

#[retry(skip)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
