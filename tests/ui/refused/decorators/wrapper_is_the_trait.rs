use retry_runtime::retry;

#[retry(wrapper = Model, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
