use retry_runtime::retry;

#[retry(wrapper = Retrying)]
trait Model {
    type Error;

    async fn complete(&self, prompt: &str) -> Result<String, Self::Error>;
}

fn main() {}
