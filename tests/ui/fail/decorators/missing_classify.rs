use retry_runtime::retry;

struct Busy;

#[retry(wrapper = Retrying)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, Busy>;
}

fn main() {}
