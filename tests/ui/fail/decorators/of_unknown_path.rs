use retry_runtime::retry;

mod other {}

#[retry(wrapper = Retrying, of = other::Model, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;

    async fn embed(&self, text: &str) -> Result<u32, String>;
}

fn main() {}
